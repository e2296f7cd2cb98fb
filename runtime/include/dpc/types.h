/* Definitions that all tables of a compiled program share: element types,
 * address spaces, mesh, groups.
 *
 * Rules for all structs of this ABI: plain data, explicit widths, natural
 * alignment with explicit reserved fields (no implicit padding), no bitfields,
 * every reserved field zero. A struct that may grow begins with `struct_size`,
 * its size in bytes in the code that filled it. The elements of a table are
 * sizeof(element) bytes apart, because DPC_ABI_VERSION fixes their size. */
#ifndef DPC_TYPES_H
#define DPC_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the structs in types.h, action.h, device.h, records.h and program.h,
 * in calls.h, and in the headers of the kinds of library calls (product.h). The
 * runtime refuses a program that was built for another version. The files that
 * programs write (checkpoints, parameters) do not depend on this version. */
#define DPC_ABI_VERSION 12u
/** Stands for "no index" where a field has no group, metric, location, .. */
#define DPC_NONE 0xffffffffu
#define DPC_MAX_RANK_DIMS 8u /**< the most dimensions that an array of the host may have */

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
/** The name of a type: "f32", "i64", ...; "invalid" for an unknown type. */
const char *dpc_dtype_name(uint32_t dtype);

/** Reductions of collectives. A sum adds the values of the members in the order
 * of the members in the group, so that its bits are reproducible. Only NCCL adds
 * them in an order of its own. */
enum { DPC_SUM = 0, DPC_MAX = 1, DPC_MIN = 2, DPC_REDUCTION_COUNT = 3 };

/** Address spaces of a rank, in the memory of its device. A buffer is a pair
 * (space, offset). Only the rank's queue, and the code that the queue runs, may
 * use the address base[space] + offset. */
enum {
  DPC_SPACE_ARENA = 0,  /**< private memory of the rank */
  DPC_SPACE_SHARED = 1, /**< memory for the buffers of collectives and of send/recv */
  DPC_SPACE_COUNT = 2
};

/** Alignment of every space's start, in bytes. */
#define DPC_ALIGNMENT 64u

/** One axis of the mesh. The world size is the product of the sizes of all axes
 * that are not sequential. The rank is the mixed-radix number of its
 * coordinates on these axes, with the last axis varying fastest. */
typedef struct dpc_axis_t {
  const char *name;
  uint32_t size;
  uint32_t sequential; /**< 1: the axis runs over time (microbatches), 0: over ranks */
} dpc_axis_t;

/** A level of connections of the machine for which a program was planned: it connects `size` units
 * of the level inside it, or `size` devices if it is the innermost level. */
typedef struct dpc_level_t {
  const char *name;
  uint64_t size; /**< 0: any number, which only the outermost level may have */
} dpc_level_t;

/** A family of disjoint groups of equal size, for example all groups of ranks
 * along the axis "data". An action names a family, and each rank communicates
 * with the group of this family that contains the rank. A rank that belongs to
 * none of the groups may not use the family. Roots and peers of operations are
 * indices into the group. Family 0 is by convention the world: one group with
 * all ranks. */
typedef struct dpc_group_family_t {
  const char *name;      /**< for messages: "data", "world", "data+model" */
  uint32_t group_count;  /**< number of groups */
  uint32_t group_size;   /**< ranks in each group */
  const uint32_t *ranks; /**< [group_count][group_size] global ranks; the position of a rank in
                            this order is its index in the group, and reductions follow it */
} dpc_group_family_t;

#ifdef __cplusplus
}
#endif
#endif /* DPC_TYPES_H */
