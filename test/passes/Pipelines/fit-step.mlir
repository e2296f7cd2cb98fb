// The search for the plan with the shortest step, on a machine with slow wires.
// RUN: echo '{"name": "wires", "device": {"memory_GB_per_s": 10, "TFLOP_per_s": {"f32": 1e-4, "f64": 1e-4}}, "levels": [{"name": "wires", "size": 8, "GB_per_s": 0.01}]}' > %t.json
// RUN: dpc-compile %S/../../models/gpt2/model.onnx --loss=cross-entropy --optimizer=adamw,lr=0.002 --mesh=data=8 --topology=%t.json --stop-after=local -o %t.local
// RUN: dpc-opt %t.local '--dpc-fit-step=may-choose-buckets axes-to-divide=data' -o %t.fits 2>%t.note
// RUN: grep -o "dist.plan = [^>]*>" %t.fits | FileCheck %s --check-prefix=FITS
// RUN: grep -o "remark: .*" %t.note | FileCheck %s --check-prefix=NOTE
// RUN: dpc-opt %t.local --dpc-fit-step -o %t.same
// RUN: grep -o "dist.plan = [^>]*>" %t.same | FileCheck %s --check-prefix=SAME
// RUN: sed -e 's/dist.plan = #dist.plan</&zeroStage = 0, /' %t.local > %t.zero
// RUN: not dpc-opt %t.zero '--dpc-fit-step=axes-to-divide=data' 2>&1 | grep -o "error: .*" | FileCheck %s --check-prefix=GIVEN

// FITS: dist.plan = #dist.plan<mesh = ["data" = 8 batch], {{.*}}firstBucketBytes = {{[0-9]+}}, bucketBytes = {{[0-9]+}}>
// NOTE: remark: a step takes [[STEP:[0-9.]+]] ms with {{.*}}--first-bucket-mib=0.{{[0-9]+}} --bucket-mib={{[0-9.]+}}, and {{[0-9.]+}} ms without, as estimated; {{[0-9]}} plans tried

// Without open choices the plan stays.
// SAME: dist.plan = #dist.plan<mesh = ["data" = 8 batch]>

// GIVEN: error: its plan: the search chooses the updates to divide, but the plan asks for --zero=0
