#ifndef DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
#define DPC_RUNTIME_SRC_DATA_INPUTLOADER_H

#include "dpc/data.h"
#include "dpc/program.h"

#include <string>
#include <vector>

namespace dpc {

/// The dimension of an array that counts samples, as far as its extents tell.
enum class Layout {
  fixed,        ///< the first, as the format or the input requires
  samplesFirst, ///< the first; the array would not fit with the samples at batch_dim
  asInput,      ///< batch_dim; the array would not fit with the samples first
  either        ///< both fit: the first, unless other arrays decide otherwise (settleLayouts)
};

/// Location of an input's values in one file: sample s begins at element s *
/// rowStride + rowOffset.
struct Binding {
  const char *data = nullptr;
  uint32_t dtype = 0;
  uint64_t rows = 0;
  uint64_t firstRow = 0; ///< number of samples in the files before this one
  uint64_t rowStride = 0;
  uint64_t rowOffset = 0;
  /// Elements from one index of the dimensions before the input's batch
  /// dimension to the next. 0: the elements of a sample are contiguous.
  uint64_t outerStride = 0;
  Layout layout = Layout::fixed;
  bool scaled = false; ///< value = x * scale + shift, for float inputs
  double scale = 1;
  double shift = 0;
  std::string source; ///< for messages: "train.npz: array x"
};

/// The files with an input's values. The samples of the first file come first,
/// then those of the second, and so on. Empty if the input is not bound.
using Bindings = std::vector<Binding>;

/// Fills a rank's input buffers with its share of the batch; converts and
/// checks the values on the way. Row b of the global batch is row rows()[b] of
/// the data.
class InputLoader {
public:
  InputLoader(const dpc_program_t &program, uint32_t rank);

  /// Binds an array and removes earlier bindings of the input. The array's
  /// first dimension counts samples; if that does not fit, the dimension at
  /// batch_dim may, as in [steps, samples, ..]. Without a batch dimension the
  /// array is used in full. DPC_INVALID with a message that names source, input
  /// and both shapes.
  dpc_status_t bind(uint32_t input, const dpc_array_t &array, const std::string &source);
  /// Binds another array, whose samples follow those already bound. An array
  /// without a batch dimension may be given again if it is equal. `flexible`
  /// accepts samples of another shape with as many elements.
  dpc_status_t append(uint32_t input, const dpc_array_t &array, const std::string &source,
                      bool flexible = false);
  void append(uint32_t input, Binding binding);
  void setBindings(uint32_t input, Bindings all) { bindings[input] = std::move(all); }
  Bindings &allBindings(uint32_t input) { return bindings[input]; }
  const Bindings &allBindings(uint32_t input) const { return bindings[input]; }
  /// Number of samples of an input in all its files.
  uint64_t sampleCount(uint32_t input) const;
  /// The source of an input for messages: "a.npz: array x", or "a.npz: array x
  /// and 2 more files".
  std::string sourceOf(uint32_t input) const;
  /// DPC_INVALID for the first value of the input's data outside its range.
  /// Checks nothing if the data has more than `mostBytes`.
  dpc_status_t checkAll(uint32_t input, uint64_t mostBytes) const;
  /// DPC_INVALID with a message that names the first input without a binding;
  /// DPC_OK if all have one.
  dpc_status_t checkAllBound() const;

  std::vector<uint64_t> &rows() { return batchRows; }

  /// Fills the buffer of one microbatch. DPC_INVALID with a message that names
  /// the row and value if a value is out of bounds.
  dpc_status_t load(uint32_t input, uint64_t micro, char *destination);

private:
  dpc_status_t makeBinding(uint32_t input, const dpc_array_t &array, const std::string &source,
                           bool flexible, Binding *out) const;
  /// Checks, converts and copies `count` elements. They begin at `element` of
  /// the file, which is element `within` of its sample `row`.
  dpc_status_t copyPiece(const dpc_input_t &input, const Binding &binding, uint64_t element,
                         uint64_t within, uint64_t count, uint64_t row, char *to);

  const dpc_program_t &program;
  uint32_t rank;
  std::vector<Bindings> bindings; ///< indexed by input
  std::vector<uint64_t> batchRows;
};

/// The names of the program's inputs for messages: "a, b, label".
std::string inputNames(const dpc_program_t &program);

/// Index of the input for data of this name, or DPC_NONE. "label" names the
/// label input.
uint32_t findInput(const dpc_program_t &program, const char *name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
