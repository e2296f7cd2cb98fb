#!/usr/bin/env python3
"""Continues a text with a saved byte-level GPT, by onnxruntime.

    sample.py MODEL.onnx PROMPT [BYTES]    default: 80 bytes; the same ones each time
"""

import sys

import numpy as np
import onnxruntime

LENGTH = 64
TEMPERATURE = 0.5


def main(path, prompt, count="80"):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    text = list(prompt.encode("ascii"))
    random = np.random.default_rng(0)
    for _ in range(int(count)):
        window = text[-LENGTH:]
        # The padding after the last byte has no effect: attention is causal.
        tokens = np.array([window + [0] * (LENGTH - len(window))], np.int64)
        logits = session.run(None, {name: tokens})[0][0, len(window) - 1].astype(np.float64) / TEMPERATURE
        chances = np.exp(logits - logits.max())
        text.append(int(random.choice(len(chances), p=chances / chances.sum())))
    print(bytes(text).decode("ascii", "replace").replace("\n", " "))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
