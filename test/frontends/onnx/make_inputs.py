#!/usr/bin/env python3
"""Makes the models of Inputs/ that the frontend's tests read. Needs onnx 1.22.0 and numpy; run it in this folder.

Good models are checked by onnx itself; each bad one breaks the one rule its name says. Which there are: folder `made`.
"""
import os

from made.bags import bags
from made.classification import classification
from made.conversion import control, conversion, one_form
from made.files import external, files, functions, graphs, tensors
from made.halves import halves
from made.kinks import kinks
from made.parts import OUT
from made.restoration import restoration

os.makedirs(OUT, exist_ok=True)
conversion(), control(), one_form(), files(), graphs(), functions(), tensors(), external(), classification(), restoration()
halves(), kinks(), bags()
