"""Attention of which some rows, and one sample, have no key: operands, masks and forms of the operator."""
import numpy as np

SHAPES = {'q': (2, 2, 3, 4), 'k': (2, 2, 5, 4), 'v': (2, 2, 5, 6)}
SOFTCAP = 2.


def operands():
    drawn = np.random.default_rng(30)
    return {name: drawn.integers(-8, 9, shape) / 8 for name, shape in SHAPES.items()}


def weights():
    return np.random.default_rng(31).integers(-8, 9, (2, 2, 3, 6)) / 8


def seen():
    mask = np.random.default_rng(32).integers(0, 2, (2, 1, 3, 5)).astype(bool)
    mask[0, 0, 1] = False
    mask[1] = False
    mask[0, 0, 0, 2] = mask[0, 0, 2, 4] = True
    return mask


# Form: (attributes, whether the mask is of floats). Scores with a cap do not become nn.attention.
FORMS = {'mask of booleans': ({}, False), 'mask of floats': ({}, True),
         'capped scores': ({'softcap': SOFTCAP}, False), 'capped scores, floats': ({'softcap': SOFTCAP}, True)}
