#!/usr/bin/env python3
"""Writes model.onnx, the untrained CNN of scripts/demo. Needs PyTorch: scripts/setup --dev."""

from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))
images = torch.zeros(64, 1, 28, 28)
torch.onnx.export(model, (images,), Path(__file__).with_name("model.onnx"), dynamo=True, external_data=False,
                  input_names=["images"], output_names=["logits"],
                  dynamic_shapes=({0: torch.export.Dim("batch")},))
