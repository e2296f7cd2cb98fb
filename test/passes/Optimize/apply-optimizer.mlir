// RUN: split-file %s %t
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=sgd,lr=0.1 | FileCheck %t/one.mlir --check-prefix=SGD
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=sgd,weight-decay=0.5 | FileCheck %t/one.mlir --check-prefix=DECAY
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=momentum | FileCheck %t/one.mlir --check-prefix=MOMENTUM
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=nesterov | FileCheck %t/one.mlir --check-prefix=NESTEROV
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=adam | FileCheck %t/one.mlir --check-prefix=ADAM
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=adamw | FileCheck %t/one.mlir --check-prefix=ADAMW
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=adagrad | FileCheck %t/one.mlir --check-prefix=ADAGRAD
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=lamb | FileCheck %t/one.mlir --check-prefix=LAMB
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=cosine,warmup=10,total=100,min-lr=1e-5' | FileCheck %t/one.mlir --check-prefix=COSINE
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=linear,total=1' | FileCheck %t/one.mlir --check-prefix=LINEAR
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=cosine,warmup=2.5%' | FileCheck %t/one.mlir --check-prefix=SHARE
// RUN: dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=linear,warmup=5' | FileCheck %t/one.mlir --check-prefix=RUN-END
// RUN: dpc-opt %t/two.mlir --dpc-apply-optimizer='optimizer=sgd clip-grad-norm=2' | FileCheck %t/two.mlir --check-prefix=CLIP
// RUN: dpc-opt %t/two.mlir --dpc-apply-optimizer='optimizer=sgd log-grad-norm' | FileCheck %t/two.mlir --check-prefix=LOGGED
// RUN: dpc-opt %t/two.mlir --dpc-apply-optimizer='optimizer=sgd' | FileCheck %t/two.mlir --check-prefix=SILENT
// RUN: dpc-opt %t/two.mlir --mlir-print-op-on-diagnostic=false --dpc-apply-optimizer='optimizer=sgd,weight-decay=0.5 groups=*;lr-scale=3,*.bias;weight-decay=0' 2>&1 | FileCheck %t/two.mlir --check-prefix=GROUPS
// RUN: dpc-opt %t/two.mlir --dpc-apply-optimizer='optimizer=sgd groups=*.bias;lr-scale=3,fc.*;lr-scale=5' | FileCheck %t/two.mlir --check-prefix=LATER
// RUN: not dpc-opt %t/two.mlir --dpc-apply-optimizer='optimizer=sgd groups=none*;lr-scale=2' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=rmsprop 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer=optimizer=adam,beta2=1 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd groups=w;lr=1' 2>&1 | FileCheck %s --check-prefix=GROUP-OPTION
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd groups=[z-a]' 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=step' 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd,lr=0.1 lr-schedule=cosine,min-lr=0.5' 2>&1 | FileCheck %s --check-prefix=MINIMUM
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd groups=w*' 2>&1 | FileCheck %s --check-prefix=NO-CHANGE
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd lr-schedule=linear,warmup=5,total=5' 2>&1 | FileCheck %s --check-prefix=TOTAL
// RUN: not dpc-opt %t/one.mlir --dpc-apply-optimizer='optimizer=sgd clip-grad-norm=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not dpc-opt %t/nothing.mlir --dpc-apply-optimizer=optimizer=sgd 2>&1 | FileCheck %s --check-prefix=MISSING

// UNKNOWN: error: unknown optimizer 'rmsprop'; known: sgd, momentum, nesterov, adam, adamw, adagrad, lamb
// RANGE: error: optimizer adam: beta2=1 is not a number from 0 to below 1
// GROUP-OPTION: error: parameter group has no option 'lr'; known: weight-decay, lr-scale
// GLOB: error: parameter group '[z-a]': invalid glob pattern: [z-a]
// NOTHING: error: parameter group none* matches no trained parameter
// SCHEDULE: error: unknown lr-schedule 'step'; known: constant, linear, cosine
// MINIMUM: error: lr-schedule cosine: min-lr=0.5 is above lr=0.1
// NO-CHANGE: error: parameter group 'w*' changes nothing: give it weight-decay=X or lr-scale=X
// TOTAL: error: lr-schedule linear: total=5 is not above warmup=5
// NEGATIVE: error: clip-grad-norm is negative
// MISSING: error: has no function @step

//--- one.mlir
// The gradient makes place for the parameter's new value; other results stay. The learning rate is a control,
// its schedule an attribute of the module.
// SGD: module @optimizers_update_one_parameter attributes {nn.learning_rate = #nn.learning_rate<base = 1.000000e-01 : f64, decay = constant, warmup = 0, total = 0, minimum = 0.000000e+00 : f64>, nn.optimizer = #nn.optimizer<"sgd", options = {lr = 1.000000e-01 : f64, momentum = 0.000000e+00 : f64, "weight-decay" = 0.000000e+00 : f64}, groups = []>}
// SGD-NOT: nn.variable @"{{.*}}|w"
// SGD: func.func @step([[P:%[a-z0-9]+]]: {{[^,]*}}, [[G:%[a-z0-9]+]]: {{[^,]*}}, {{[^,]*}}, [[LR:%[a-z0-9]+]]: tensor<f64> {nn.arg = #nn.arg<control "learning_rate">}
// SGD-SAME: -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<4xf32> {nn.result = #nn.result<state "w">})
// SGD: [[RATE:%[a-z0-9]+]] = nn.convert [[LR]] : tensor<f64> -> tensor<f32>
// SGD: [[NEW:%[a-z0-9]+]] = nn.update([[P]], [[G]] : tensor<4xf32>, tensor<4xf32>) scalars([[RATE]] : tensor<f32>) {
// SGD-NEXT: ^bb0([[PI:%[a-z0-9]+]]: tensor<f32>, [[GI:%[a-z0-9]+]]: tensor<f32>, [[L:%[a-z0-9]+]]: tensor<f32>):
// Without weight decay and momentum there is no term for either.
// SGD-NEXT: [[D:%[a-z0-9]+]] = nn.mul [[L]], [[GI]]
// SGD-NEXT: [[N:%[a-z0-9]+]] = nn.sub [[PI]], [[D]]
// SGD-NEXT: nn.yield [[N]]
// SGD: return %{{.*}}, [[NEW]]

// Weight decay is part of the gradient: g + wd p.
// DECAY: ^bb0([[PI:%[a-z0-9]+]]: tensor<f32>, [[GI:%[a-z0-9]+]]: tensor<f32>,
// DECAY: [[WD:%[a-z0-9]+]] = nn.constant dense<5.000000e-01>
// DECAY: [[T:%[a-z0-9]+]] = nn.mul [[PI]], [[WD]]
// DECAY: nn.add [[GI]], [[T]]

// A moment is state: a zero variable, an argument that names its parameter, a result.
// MOMENTUM: nn.variable @"momentum_buffer|w" = dense<0.000000e+00> : tensor<4xf32>
// MOMENTUM: func.func @step({{.*}}tensor<4xf32> {nn.arg = #nn.arg<optimizer "momentum_buffer|w", of = "w">})
// MOMENTUM-SAME: tensor<4xf32> {nn.result = #nn.result<state "w">}, tensor<4xf32> {nn.result = #nn.result<state "momentum_buffer|w">})
// b' = mu b + g; p -= lr b'
// MOMENTUM: ^bb0([[P:%[a-z0-9]+]]: tensor<f32>, [[G:%[a-z0-9]+]]: tensor<f32>, [[B:%[a-z0-9]+]]: tensor<f32>, [[L:%[a-z0-9]+]]: tensor<f32>):
// MOMENTUM: [[MB:%[a-z0-9]+]] = nn.mul [[B]],
// MOMENTUM-NEXT: [[B1:%[a-z0-9]+]] = nn.add [[MB]], [[G]]
// MOMENTUM-NEXT: [[D:%[a-z0-9]+]] = nn.mul [[L]], [[B1]]
// MOMENTUM-NEXT: [[P1:%[a-z0-9]+]] = nn.sub [[P]], [[D]]
// MOMENTUM-NEXT: nn.yield [[P1]], [[B1]]

// Nesterov's step is along g + mu b'.
// NESTEROV: ^bb0
// NESTEROV: [[B1:%[a-z0-9]+]] = nn.add {{.*}}, [[G:%[a-z0-9]+]] :
// NESTEROV: [[MB:%[a-z0-9]+]] = nn.mul [[B1]],
// NESTEROV-NEXT: [[D:%[a-z0-9]+]] = nn.add [[G]], [[MB]]
// NESTEROV: nn.yield %{{.*}}, [[B1]]

// Bias corrections are computed once, in f64, from the number of this step counted from 1.
// ADAM: nn.variable @"exp_avg|w"
// ADAM: nn.variable @"exp_avg_sq|w"
// ADAM: func.func @step({{.*}}, [[STEP:%[a-z0-9]+]]: tensor<i64> {nn.arg = #nn.arg<control "step">}
// ADAM: [[S:%[a-z0-9]+]] = nn.convert [[STEP]] : tensor<i64> -> tensor<f64>
// ADAM: [[ONE:%[a-z0-9]+]] = nn.constant dense<1.000000e+00> : tensor<f64>
// ADAM: [[T:%[a-z0-9]+]] = nn.add [[S]], [[ONE]] : tensor<f64>
// ADAM-COUNT-2: nn.pow %{{[a-z0-9]+}}, [[T]] : tensor<f64>
// ADAM: nn.update({{.*}}) scalars(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<f32>, tensor<f32>)
// ADAM: [[ROOT:%[a-z0-9]+]] = nn.sqrt
// ADAM: nn.div [[ROOT]],
// ADAM: nn.yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :

// AdamW's decay of 0.01 is the default, and shrinks the parameter by one more scalar: 1 - lr wd.
// ADAMW: [[WD:%[a-z0-9]+]] = nn.constant dense<1.000000e-02> : tensor<f64>
// ADAMW: [[D:%[a-z0-9]+]] = nn.mul %{{[a-z0-9]+}}, [[WD]] : tensor<f64>
// ADAMW: [[K:%[a-z0-9]+]] = nn.sub %{{[a-z0-9]+}}, [[D]] : tensor<f64>
// ADAMW: [[SHRINK:%[a-z0-9]+]] = nn.convert [[K]] : tensor<f64> -> tensor<f32>
// ADAMW: nn.update({{.*}}) scalars({{.*}}, [[SHRINK]] : tensor<f32>, tensor<f32>, tensor<f32>) {
// ADAMW-NEXT: ^bb0([[P:%[a-z0-9]+]]: tensor<f32>, {{.*}}, [[S:%[a-z0-9]+]]: tensor<f32>):
// ADAMW: nn.mul [[P]], [[S]]

// ADAGRAD: nn.variable @"sum|w"
// ADAGRAD: #nn.result<state "sum|w">

// LAMB needs the norm of the parameter and of its direction.
// LAMB-COUNT-2: nn.reduce sum %{{[a-z0-9]+}} [0] : tensor<4xf32> -> tensor<f32>

// COSINE: #nn.learning_rate<base = 1.000000e-03 : f64, decay = cosine, warmup = 10, total = 100, minimum = 1.000000e-05 : f64>
// LINEAR: decay = linear, warmup = 0, total = 1,
// SHARE: decay = cosine, warmup = 0, total = 0, minimum = 0.000000e+00 : f64, warmup_ppm = 25000>
// RUN-END: decay = linear, warmup = 5, total = 0,
module @optimizers_update_one_parameter {
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">},
                %g: tensor<4xf32> {nn.arg = #nn.arg<input "g">},
                %s: tensor<i64> {nn.arg = #nn.arg<control "step">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<4xf32> {nn.result = #nn.result<gradient "w">}) {
  %0 = nn.constant dense<2.0> : tensor<f32>
  return %0, %g : tensor<f32>, tensor<4xf32>
}
}

//--- two.mlir
// One norm over all gradients together; each is scaled by min(1, X / (norm + 1e-6)). The norm is a metric.
// CLIP: #nn.result<metric "grad_norm">
// CLIP: [[A2:%[a-z0-9]+]] = nn.mul [[A:%[a-z0-9]+]], [[A]] : tensor<4x2xf32>
// CLIP: [[SA:%[a-z0-9]+]] = nn.reduce sum [[A2]] [0, 1]
// CLIP: [[B2:%[a-z0-9]+]] = nn.mul [[B:%[a-z0-9]+]], [[B]] : tensor<2xf32>
// CLIP: [[SB:%[a-z0-9]+]] = nn.reduce sum [[B2]] [0]
// CLIP: [[SUM:%[a-z0-9]+]] = nn.add [[SA]], [[SB]]
// CLIP-DAG: [[X:%[a-z0-9]+]] = nn.constant dense<2.000000e+00> : tensor<f32>
// CLIP-DAG: [[NORM:%[a-z0-9]+]] = nn.sqrt [[SUM]]
// CLIP-DAG: [[EPS:%[a-z0-9]+]] = nn.constant dense<9.99999997E-7> : tensor<f32>
// CLIP-DAG: [[D:%[a-z0-9]+]] = nn.add [[NORM]], [[EPS]]
// CLIP-DAG: [[F:%[a-z0-9]+]] = nn.div [[X]], [[D]]
// CLIP-DAG: [[ONE:%[a-z0-9]+]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CLIP: [[SCALE:%[a-z0-9]+]] = nn.min [[F]], [[ONE]]
// CLIP: nn.update({{.*}}) scalars(%{{[a-z0-9]+}}, [[SCALE]] : tensor<f32>, tensor<f32>) {
// CLIP: nn.update({{.*}}) scalars(%{{[a-z0-9]+}}, [[SCALE]] : tensor<f32>, tensor<f32>) {

// It is one without clipping too where it is asked for; then it scales nothing.
// LOGGED: tensor<f32> {nn.result = #nn.result<metric "grad_norm">}
// LOGGED: [[SUM:%[a-z0-9]+]] = nn.add %{{.*}} : tensor<f32>
// LOGGED-NEXT: [[NORM:%[a-z0-9]+]] = nn.sqrt [[SUM]]
// LOGGED-NOT: nn.min
// LOGGED: return %{{.*}}, [[NORM]] :
// SILENT-NOT: grad_norm
// SILENT-NOT: nn.sqrt

// A parameter takes the options of its group; a group that matches none is a warning.
// The weight: a rate of three times the control, the optimizer's decay.
// GROUPS: groups = ["*: 2 parameters, lr-scale=3", "*.bias: 1 parameter, weight-decay=0"]
// GROUPS: [[THREE:%[a-z0-9]+]] = nn.constant dense<3.000000e+00> : tensor<f64>
// GROUPS: [[R3:%[a-z0-9]+]] = nn.mul [[LR:%[a-z0-9]+]], [[THREE]] : tensor<f64>
// GROUPS: nn.convert [[R3]]
// GROUPS: nn.update({{.*}} : tensor<4x2xf32>, tensor<4x2xf32>)
// GROUPS: nn.constant dense<5.000000e-01>
// The bias: no decay, and the rate of the earlier group, which the later one does not name.
// GROUPS: [[B3:%[a-z0-9]+]] = nn.mul [[LR]], %{{.*}} : tensor<f64>
// GROUPS: nn.convert [[B3]]
// GROUPS: nn.update({{.*}} : tensor<2xf32>, tensor<2xf32>)
// GROUPS-NOT: nn.constant dense<5.000000e-01>

// Of two groups that name the same option the later one counts.
// LATER-NOT: nn.constant dense<3.000000e+00>
// LATER: [[FIVE:%[a-z0-9]+]] = nn.constant dense<5.000000e+00> : tensor<f64>
// LATER: nn.mul %{{.*}}, [[FIVE]] : tensor<f64>
// LATER: nn.update({{.*}} : tensor<4x2xf32>, tensor<4x2xf32>)
// LATER-NOT: nn.constant dense<3.000000e+00>
// LATER: nn.update({{.*}} : tensor<2xf32>, tensor<2xf32>)
module @clips_and_groups_two_parameters {
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "fc.weight">},
                %b: tensor<2xf32> {nn.arg = #nn.arg<parameter "fc.bias">},
                %gw: tensor<4x2xf32> {nn.arg = #nn.arg<input "gw">},
                %gb: tensor<2xf32> {nn.arg = #nn.arg<input "gb">},
                %s: tensor<i64> {nn.arg = #nn.arg<control "step">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<gradient "fc.weight">},
        tensor<2xf32> {nn.result = #nn.result<gradient "fc.bias">}) {
  return %gw, %gb : tensor<4x2xf32>, tensor<2xf32>
}
}

//--- nothing.mlir
func.func @refuses_missing_step() {
  return
}
