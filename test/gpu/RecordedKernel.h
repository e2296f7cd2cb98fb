#ifndef DPC_TEST_GPU_RECORDEDKERNEL_H
#define DPC_TEST_GPU_RECORDEDKERNEL_H

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace dpc::test {

/// A launch of a grid: the function, its extents, and the numbers of its buffers.
struct RecordedLaunch {
  std::string symbol;
  uint32_t blocks = 0, threads = 0, sharedBytes = 0;
  std::vector<uint32_t> buffers;
};

/// Memory of a run: what it held before, and what it must hold afterwards. Of
/// scratch memory nothing is known, and nothing is asked.
struct RecordedBuffer {
  uint32_t dtype = 0;     ///< DPC_F32, ...; DPC_U8 for what must be equal
  uint32_t isScratch = 0; ///< then there are no values
  uint64_t bytes = 0;
  std::string before;
  std::string after; ///< empty: the same as before
};

/// A run: its buffers, and which of them each number of a launch means. Two
/// numbers may mean one buffer.
struct RecordedRun {
  std::vector<uint32_t> places;
  std::vector<RecordedBuffer> buffers;
};

/// A kernel of the target `cuda`, and runs of it on the emulated device, whose
/// results a test has compared with the interpreter's. It needs neither LLVM nor
/// the compiler to run again.
struct RecordedKernel {
  std::string name; ///< of the test
  std::string ptx;
  std::vector<RecordedLaunch> launches;
  std::vector<RecordedRun> runs;
};

/// Appends a kernel to what other kernels were written to.
void writeKernel(std::ostream &out, const RecordedKernel &kernel);
/// The next kernel; false at the end, and where the file is not whole.
bool readKernel(std::istream &in, RecordedKernel &kernel);

} // namespace dpc::test

#endif // DPC_TEST_GPU_RECORDEDKERNEL_H
