#ifndef DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
#define DPC_RUNTIME_SRC_DATA_INPUTLOADER_H

#include "dpc/data.h"
#include "dpc/program.h"

#include <string>
#include <vector>

namespace dpc {

/// Which dimension of an array counts samples, by its extents.
enum class Layout {
  fixed,        ///< the first, as the format or the input has it
  samplesFirst, ///< the first; with the samples where the input has them it would not fit
  asInput,      ///< the one where the input has them; as the first they would not fit
  either        ///< both fit: the first, unless other arrays tell more (settleLayouts)
};

/// Where an input's values lie in one file: its sample s begins at the element s *
/// rowStride + rowOffset.
struct Binding {
  const char *data = nullptr;
  uint32_t dtype = 0;
  uint64_t rows = 0;
  uint64_t firstRow = 0; ///< samples in the files before it
  uint64_t rowStride = 0;
  uint64_t rowOffset = 0;
  /// From one index of the dimensions before the input's batch dimension to the next; 0: a
  /// sample's elements follow each other.
  uint64_t outerStride = 0;
  Layout layout = Layout::fixed;
  bool scaled = false; ///< value = x * scale + shift, for float inputs
  double scale = 1;
  double shift = 0;
  std::string source; ///< for messages: "train.npz: array x"
};

/// The files of an input's values, one after the other: the samples are those of
/// the first, then those of the second, and so on. None: not bound.
using Bindings = std::vector<Binding>;

/// Fills a rank's input buffers with its share of the batch, converting and
/// checking on the way. Global batch row b is data row rows()[b].
class InputLoader {
public:
  InputLoader(const dpc_program_t &program, uint32_t rank);

  /// Binds an array whose first dimension is the sample (or the whole array,
  /// without a batch dimension) in place of what was bound. Where that does not
  /// fit, the samples may be where the input has them: [steps, samples, ..].
  /// DPC_INVALID names source, input and both shapes.
  dpc_status_t bind(uint32_t input, const dpc_array_t &array, const std::string &source);
  /// Binds what such an array has beside what is bound: its samples follow. A
  /// whole array may be given again, if it is the same. `flexible` accepts
  /// samples of another shape with as many elements.
  dpc_status_t append(uint32_t input, const dpc_array_t &array, const std::string &source,
                      bool flexible = false);
  void append(uint32_t input, Binding binding);
  void setBindings(uint32_t input, Bindings all) { bindings[input] = std::move(all); }
  Bindings &allBindings(uint32_t input) { return bindings[input]; }
  const Bindings &allBindings(uint32_t input) const { return bindings[input]; }
  /// Samples of an input in all its files.
  uint64_t sampleCount(uint32_t input) const;
  /// "a.npz: array x", or "a.npz: array x and 2 more files".
  std::string sourceOf(uint32_t input) const;
  /// DPC_INVALID for the first value of the input's data that is outside its
  /// range. Looks at nothing where there are more than `mostBytes`.
  dpc_status_t checkAll(uint32_t input, uint64_t mostBytes) const;
  /// Names the first input without binding; DPC_OK if there is none.
  dpc_status_t checkAllBound() const;

  std::vector<uint64_t> &rows() { return batchRows; }

  /// Fills the buffer of one microbatch. DPC_INVALID names the row and value
  /// that is out of bounds.
  dpc_status_t load(uint32_t input, uint64_t micro, char *destination);

private:
  dpc_status_t makeBinding(uint32_t input, const dpc_array_t &array, const std::string &source,
                           bool flexible, Binding *out) const;
  /// Checks, converts and copies `count` elements: those of the file from
  /// `element` on, which are those of its sample `row` from `within` on.
  dpc_status_t copyPiece(const dpc_input_t &input, const Binding &binding, uint64_t element,
                         uint64_t within, uint64_t count, uint64_t row, char *to);

  const dpc_program_t &program;
  uint32_t rank;
  std::vector<Bindings> bindings; ///< by input
  std::vector<uint64_t> batchRows;
};

/// "a, b, label", for messages.
std::string inputNames(const dpc_program_t &program);

/// Index of the input that data of this name feeds ("label": the label), or
/// DPC_NONE.
uint32_t findInput(const dpc_program_t &program, const char *name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
