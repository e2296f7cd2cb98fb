// Finds other names that the PyTorch module has for one parameter.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H
#define DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H

#include "frontends/onnx/Model/Graph.h"

#include <map>
#include <string>
#include <vector>

namespace dpc::onnx {

/// For each initializer of `graph`: the other names that the module has for it.
/// PyTorch's default exporter lists all parameters of a module. For tied parameters
/// (GPT-2's `lm_head.weight` is `wte.weight`) all uses get the name of one of them.
/// So `wte.weight` is another name of `lm_head.weight` if the graph has no tensor
/// `wte.weight`, and a node of the module `wte` reads `lm_head.weight` and no other
/// tensor whose name ends in `.weight`. If no call decides, the naming conventions
/// of transformers do: `shared.weight` is `encoder.embed_tokens.weight` (T5, BART),
/// and `cls.predictions.bias` is `cls.predictions.decoder.bias` (BERT). A name that
/// fits two tensors is left out. TorchScript writes the other names as Identity
/// nodes.
std::map<std::string, std::vector<std::string>> findTiedNames(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_TIEDNAMES_H
