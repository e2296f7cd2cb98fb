// Other names that the module has for one parameter.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H
#define DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H

#include "frontends/onnx/Model/Graph.h"

#include <map>
#include <string>
#include <vector>

namespace dpc::onnx {

/// The other names under which the module has an initializer of `graph`, by the
/// initializer's name. PyTorch's default exporter lists all parameters of a
/// module, but of tied ones (GPT-2's `lm_head.weight` is `wte.weight`) it gives
/// all uses the name of one. So `wte.weight` is another name of
/// `lm_head.weight` if the graph has no such tensor, and a node of the module
/// `wte` takes `lm_head.weight` and no other tensor whose name ends in
/// `.weight`. Where no call tells, the names that transformers gives decide:
/// `shared.weight` is `encoder.embed_tokens.weight` (T5, BART), and
/// `cls.predictions.bias` is `cls.predictions.decoder.bias` (BERT). A name that
/// two tensors could have is left out. TorchScript writes other names as those of
/// Identity nodes.
std::map<std::string, std::vector<std::string>> findTiedNames(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H
