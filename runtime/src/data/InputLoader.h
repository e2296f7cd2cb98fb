#ifndef DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
#define DPC_RUNTIME_SRC_DATA_INPUTLOADER_H

#include "dpc/data.h"
#include "dpc/program.h"

#include <string>
#include <vector>

namespace dpc {

/// Where an input's values lie: sample s of the data is the elements at s *
/// rowStride + rowOffset.
struct Binding {
  const char *data = nullptr; ///< null: not bound
  uint32_t dtype = 0;
  uint64_t rows = 0;
  uint64_t rowStride = 0;
  uint64_t rowOffset = 0;
  bool scaled = false; ///< value = x * scale + shift, for float inputs
  double scale = 1;
  double shift = 0;
  std::string source; ///< for messages: "train.npz: array x"
};

/// Fills a rank's input buffers with its share of the batch, converting and
/// checking on the way. Global batch row b is data row rows()[b].
class InputLoader {
public:
  InputLoader(const dpc_program_t &program, uint32_t rank);

  /// Binds an array whose first dimension is the sample (or the whole array,
  /// without a batch dimension). `flexible` accepts samples of another shape
  /// with as many elements. DPC_INVALID names source, input and both shapes.
  dpc_status_t bind(uint32_t input, const dpc_array_t &array, const std::string &source,
                    bool flexible = false);
  void setBinding(uint32_t input, Binding binding) { bindings[input] = std::move(binding); }
  const Binding &binding(uint32_t input) const { return bindings[input]; }
  /// DPC_INVALID for the first value of the whole binding that is outside the
  /// input's range. Looks at nothing where there are more than `mostBytes`.
  dpc_status_t checkAll(uint32_t input, uint64_t mostBytes) const;
  /// Names the first input without binding; DPC_OK if there is none.
  dpc_status_t checkAllBound() const;

  std::vector<uint64_t> &rows() { return batchRows; }

  /// Fills the buffer of one microbatch. DPC_INVALID names the row and value
  /// that is out of bounds.
  dpc_status_t load(uint32_t input, uint64_t micro, char *destination);

private:
  /// Checks, converts and copies `count` elements: those of the data from
  /// `element` on, which are those of sample `row` from `within` on.
  dpc_status_t copyPiece(const dpc_input_t &input, const Binding &binding, uint64_t element,
                         uint64_t within, uint64_t count, uint64_t row, char *to);

  const dpc_program_t &program;
  uint32_t rank;
  std::vector<Binding> bindings;
  std::vector<uint64_t> batchRows;
};

/// "a, b, label", for messages.
std::string inputNames(const dpc_program_t &program);

/// Index of the input that data of this name feeds ("label": the label), or
/// DPC_NONE.
uint32_t findInput(const dpc_program_t &program, const char *name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
