// RUN: dpc-compile %S/../../models/gpt2/model.onnx --loss=cross-entropy --optimizer=adamw,lr=0.002 --mesh=data=2 --device-memory=560KiB --stop-after=local -o %t.local
// RUN: dpc-opt %t.local '--dpc-fit-memory=may-recompute axes-to-divide=data may-shrink-buckets' -o %t.fits 2>%t.note
// RUN: grep -o "dist.plan = [^>]*>" %t.fits | FileCheck %s --check-prefix=FITS
// RUN: grep -o "remark: .*" %t.note | FileCheck %s --check-prefix=NOTE
// RUN: not dpc-opt %t.local --dpc-fit-memory 2>&1 | grep -o "error: .*" | FileCheck %s --check-prefix=CLOSED
// RUN: sed -e 's/, deviceBytes = 573440//' %t.local | dpc-opt --dpc-fit-memory -o %t.same
// RUN: grep -o "dist.plan = [^>]*>" %t.same | FileCheck %s --check-prefix=SAME

// The plan that is found keeps the limit, which leaves the module.
// FITS: dist.plan = #dist.plan<mesh = ["data" = 2 batch], zeroStage = 2, zeroAxes = ["data"], rematBytes = {{[0-9]+}}, bucketBytes = 1048576>
// NOTE: remark: needs {{[0-9]+}} bytes ({{[0-9]+}} KiB) a rank, of 573440 bytes (560 KiB) allowed, with --zero=2 --bucket-mib=1 and parts of the forward pass computed again; {{[0-9]+}} bytes

// Without open choices there is one program, and it is too large.
// CLOSED: error: --device-memory: needs {{[0-9]+}} bytes ({{[0-9]+}} KiB) a rank, but 573440 bytes (560 KiB) are allowed; {{.*}}the largest there:

// Without a limit, the plan stays.
// SAME: dist.plan = #dist.plan<mesh = ["data" = 2 batch]>
