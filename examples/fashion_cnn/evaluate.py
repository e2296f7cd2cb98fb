#!/usr/bin/env python3
"""Prints the accuracy of an ONNX file on the test images of Fashion-MNIST, by onnxruntime.

    evaluate.py MODEL.onnx
"""

import gzip
import sys

import numpy as np
import onnxruntime

FOLDER = "/usr/share/datasets/fashion-mnist/"


def read_idx(name, header_bytes):
    with gzip.open(FOLDER + name) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header_bytes)


def main(path):
    images = read_idx("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).astype(np.float32) / 255
    labels = read_idx("t10k-labels-idx1-ubyte.gz", 8)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    batch = 500
    guesses = np.concatenate([session.run(None, {name: images[i:i + batch]})[0].argmax(1)
                              for i in range(0, len(images), batch)])
    print(f"test accuracy of {path} by onnxruntime: {100 * np.mean(guesses == labels):.2f} %")


if __name__ == "__main__":
    main(sys.argv[1])
