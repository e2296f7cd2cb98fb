#ifndef DPC_RUNTIME_SRC_CUDNN_CONVOLUTIONPLANS_H
#define DPC_RUNTIME_SRC_CUDNN_CONVOLUTIONPLANS_H

#include "dpc/convolution.h"
#include "runtime/src/cudnn/Descriptor.h"

#include <string>
#include <vector>

namespace dpc::cudnn {

/// The device that plans are made for: the current device of a handle, or a device that is only
/// described. cuDNN makes plans for a described device on machines without any device.
struct Device {
  cuda::DnnHandle handle = nullptr;
  const Descriptor *properties = nullptr; ///< used if there is no handle
};

/// A convolution, with the properties of its buffers on which the library's choice of plans
/// depends. The bytes of this struct are the key of the convolution in files of measured calls.
struct WantedConvolution {
  dpc_convolution_t convolution = {};
  /// A power of two that divides the address of the buffers of x, w and y.
  uint64_t alignments[DPC_CONVOLUTION_WORKSPACE] = {};
  /// The most bytes that the library may use as workspace.
  uint64_t workspaceBytes = 0;
};

/// A plan: an engine of the library for one convolution, with the settings of the engine.
struct Plan {
  Descriptor descriptor;
  /// The plan as JSON. The same version of the library makes an equal plan from it on any device
  /// of the same model.
  std::string text;
  uint64_t workspaceBytes = 0;
  /// The numbers that the library gave the notes of the engine (cuda::DnnNumericalNote).
  std::vector<cuda::DnnNumericalNote> notes;
  int64_t engine = 0; ///< the library's number of the engine
};

/// Makes at most `most` plans for `wanted`, each of another text. The first plan is the one that
/// the library expects to be fastest. It asks the heuristics of the library, the better ones
/// first. Allowed are engines
///   - whose results are the same in every run,
///   - that round no factors but of 16 bits or, if `tf32` is set, to tf32,
///   - that sum in the type that dpc_convolution_t names,
///   - that are in the library: others need a compiler, and a second per plan,
///   - whose workspace is no larger than `wanted` allows.
/// Returns no plans if the library does not support the convolution.
std::vector<Plan> findPlans(const cuda::Cudnn &library, const Device &device,
                            const WantedConvolution &wanted, size_t most);

/// Makes a plan of its text. The status of the plan's descriptor tells whether the library accepts
/// the text for this device.
Plan readPlan(const cuda::Cudnn &library, const Device &device, const std::string &text);

/// Runs a plan on a stream. `tensors` has the addresses of x, w and y.
cuda::DnnStatus runPlan(const cuda::Cudnn &library, cuda::DnnHandle handle, const Plan &plan,
                        const cuda::DevicePointer *tensors, cuda::DevicePointer workspace,
                        cuda::Stream stream);

} // namespace dpc::cudnn

#endif // DPC_RUNTIME_SRC_CUDNN_CONVOLUTIONPLANS_H
