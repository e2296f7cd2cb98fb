/* Small vocabulary shared by every table of a produced program: element types,
 * address spaces, mesh, groups.
 *
 * Rules for all structs of this ABI: plain data, explicit widths, natural
 * alignment with explicit reserved fields (no implicit padding), no bitfields,
 * every reserved field zero. Structs that may grow begin with `struct_size`;
 * tables of such structs are walked with the stride that the table's owner
 * states. */
#ifndef DPC_TYPES_H
#define DPC_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of every struct in types.h, action.h, device.h, records.h and
 * program.h. A program built for another one is refused. Files that programs
 * write (checkpoints, parameters) do not depend on it. */
#define DPC_ABI_VERSION 7u
/** "no index": an absent group, metric, location, parameter, ... */
#define DPC_NONE 0xffffffffu
#define DPC_MAX_RANK_DIMS 8u /**< most dimensions a tensor of the host API may have */

/** Element types. */
enum {
  DPC_DTYPE_INVALID = 0,
  DPC_F64 = 1,
  DPC_F32 = 2,
  DPC_F16 = 3,
  DPC_BF16 = 4,
  DPC_I64 = 5,
  DPC_I32 = 6,
  DPC_I16 = 7,
  DPC_I8 = 8,
  DPC_U64 = 9,
  DPC_U32 = 10,
  DPC_U16 = 11,
  DPC_U8 = 12,
  DPC_BOOL = 13, /**< one byte, 0 or 1 */
  DPC_DTYPE_COUNT = 14
};

/** Bytes of one element; 0 for an unknown type. */
uint32_t dpc_dtype_size(uint32_t dtype);
/** "f32", "i64", ...; "invalid" for an unknown type. */
const char *dpc_dtype_name(uint32_t dtype);

/** Reductions of collectives. Sums run in the order of the members of the
 * group, so bits are fixed. */
enum { DPC_SUM = 0, DPC_MAX = 1, DPC_MIN = 2, DPC_REDUCTION_COUNT = 3 };

/** Address spaces of a rank: the memory of its device. A buffer is (space,
 * offset); its address is base[space] + offset, which only the rank's queue and
 * what it runs may use. */
enum {
  DPC_SPACE_ARENA = 0,  /**< private memory of the rank */
  DPC_SPACE_SHARED = 1, /**< what collectives and send/recv touch lies here */
  DPC_SPACE_COUNT = 2
};

/** Alignment of every space's start, in bytes. */
#define DPC_ALIGNMENT 64u

/** One axis of the mesh. World size = product of the sizes of the axes that are
 * not sequential; the rank is the mixed-radix number of its coordinates on
 * those, last axis fastest. */
typedef struct dpc_axis_t {
  const char *name;
  uint32_t size;
  uint32_t sequential; /**< 1: the axis is run in time (microbatches), 0: over
                          ranks */
} dpc_axis_t;

/** A family of disjoint groups of equal size, such as "all lines along axis
 * data". An action names the family; the group meant is the one the acting rank
 * belongs to. Ranks that appear nowhere may not use the family. Roots and peers
 * are indices into the group. Family 0 is by convention the whole world. */
typedef struct dpc_group_family_t {
  const char *name;      /**< for messages: "data", "world", "data+model" */
  uint32_t group_count;  /**< number of groups */
  uint32_t group_size;   /**< ranks in each */
  const uint32_t *ranks; /**< [group_count][group_size] global ranks; order =
                            index in group = order of reduction */
} dpc_group_family_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_TYPES_H */
