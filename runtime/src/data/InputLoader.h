#ifndef DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
#define DPC_RUNTIME_SRC_DATA_INPUTLOADER_H

#include "dpc/data.h"
#include "dpc/program.h"

#include <string>
#include <vector>

namespace dpc {

/// Tells which dimension of an array counts samples, and how this was decided. The
/// candidates are the first dimension and the input's batch_dim.
enum class Layout {
  fixed,        ///< the first: the format or the input allows no other
  samplesFirst, ///< the first: with samples at batch_dim the shape would not fit
  asInput,      ///< batch_dim: with samples first the shape would not fit
  either        ///< the shape fits both: the first, unless settleLayouts decides otherwise
};

/// Location of an input's values in one file. Sample s begins at element s *
/// rowStride + rowOffset of the file.
struct Binding {
  const char *data = nullptr;
  uint32_t dtype = 0;
  uint64_t rows = 0;
  uint64_t firstRow = 0; ///< number of samples in the files before this one
  uint64_t rowStride = 0;
  uint64_t rowOffset = 0;
  /// The number of elements from one contiguous piece of a sample to the next. A
  /// sample has several pieces if samples lie along a later dimension than the first.
  /// 0: the elements of a sample are contiguous.
  uint64_t outerStride = 0;
  Layout layout = Layout::fixed;
  bool scaled = false; ///< whether an element x of the file gives the value x * scale + shift
  double scale = 1;
  double shift = 0;
  std::string source; ///< for messages: "train.npz: array x"
};

/// The files with the values of an input. The samples of the first file come first,
/// then the samples of the second file, and so on. Empty if the input is not bound.
using Bindings = std::vector<Binding>;

/// Fills a rank's input buffers with the elements of the batch that the rank holds.
/// Checks and converts each value. Row b of the global batch is sample rows()[b] of
/// the data.
class InputLoader {
public:
  InputLoader(const dpc_program_t &program, uint32_t rank);

  /// Binds an array to an input and removes earlier bindings of the input. The first
  /// dimension of the array counts samples. If the shape then does not fit the input,
  /// dimension batch_dim counts samples, for example in [steps, samples, ..]. For an
  /// input without a batch dimension, the complete array is the value. Returns
  /// DPC_INVALID if the array does not fit, with a message that names the source, the
  /// input, and both shapes or types.
  dpc_status_t bind(uint32_t input, const dpc_array_t &array, const std::string &source);
  /// Binds another array, whose samples follow the samples of the earlier arrays. For
  /// an input without a batch dimension, each further array must equal the first. If
  /// `flexible`, samples may have another shape with the same number of elements.
  dpc_status_t append(uint32_t input, const dpc_array_t &array, const std::string &source,
                      bool flexible = false);
  void append(uint32_t input, Binding binding);
  void setBindings(uint32_t input, Bindings all) { bindings[input] = std::move(all); }
  Bindings &allBindings(uint32_t input) { return bindings[input]; }
  const Bindings &allBindings(uint32_t input) const { return bindings[input]; }
  /// Number of samples of an input in all its files together.
  uint64_t sampleCount(uint32_t input) const;
  /// The source of an input for messages: "a.npz: array x", or "a.npz: array x
  /// and 2 more files".
  std::string sourceOf(uint32_t input) const;
  /// Checks all values of an input. Returns DPC_INVALID for the first value that is
  /// out of bounds. Checks nothing if the data has more than `mostBytes` bytes.
  dpc_status_t checkAll(uint32_t input, uint64_t mostBytes) const;
  /// Returns DPC_INVALID if an input has no binding. The message names the first such
  /// input.
  dpc_status_t checkAllBound() const;

  std::vector<uint64_t> &rows() { return batchRows; }

  /// Fills the buffer of one microbatch at `destination`. Returns DPC_INVALID, with a
  /// message that names the sample and the value, if a value is out of bounds.
  dpc_status_t load(uint32_t input, uint64_t micro, char *destination);

private:
  dpc_status_t makeBinding(uint32_t input, const dpc_array_t &array, const std::string &source,
                           bool flexible, Binding *out) const;
  /// Checks, converts and copies `count` elements of the file, from the element
  /// `element` on. This is the element with the index `within` of the sample `row`.
  dpc_status_t copyPiece(const dpc_input_t &input, const Binding &binding, uint64_t element,
                         uint64_t within, uint64_t count, uint64_t row, char *to);

  const dpc_program_t &program;
  uint32_t rank;
  std::vector<Bindings> bindings; ///< indexed by input
  std::vector<uint64_t> batchRows;
};

/// The names of the program's inputs for messages: "a, b, label".
std::string inputNames(const dpc_program_t &program);

/// Index of the input called `name`, or DPC_NONE. "label" stands for the input whose
/// role is DPC_INPUT_LABEL, if no input has this name.
uint32_t findInput(const dpc_program_t &program, const char *name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTLOADER_H
