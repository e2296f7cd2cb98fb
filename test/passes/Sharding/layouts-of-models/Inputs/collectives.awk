# What a rank of @step sends, of a program at level `local`, in lines that FileCheck can count on:
#
#   sends 239208448                                        by the layouts' model (#dist.cost)
#   15 all_gather, 23 all_reduce, 1 all_to_all, 14 reduce_scatter
#   14 all_gather over model of 16777216 bytes             a line for each kind, axes and size, in the step's order;
#                                                          bytes are the larger of what goes in and what comes out
#   c_fc.weight [1024], [(4096: model)]                    parameters, and how they lie
#
# Fails if the collectives do not send what the model says: of N bytes on n ranks a gather, a scatter and an exchange
# send N (n - 1) / n, an all-reduce twice that.

/dist.mesh @mesh/ {
  names = between($0, "axes [", "]")
  extents = between($0, "sizes [", "]")
  gsub(/["\]]/, "", names)
  count = split(names, name, ", ")
  split(extents, extent, ", ")
  for (i = 1; i <= count; ++i)
    size[name[i]] = extent[i]
}

/func.func @/ { inStep = 0 }

/func.func @step\(/ {
  inStep = 1
  sent = between($0, "sent = ", ">")
  count = split($0, argument, "%arg")
  for (i = 1; i <= count; ++i)
    if (argument[i] ~ /#nn.arg<parameter /)
      layouts = layouts between(argument[i], "#nn.arg<parameter \"", "\"") " " between(argument[i], "#dist.layout<\"", "\"") "\n"
}

inStep && / = dist\.(all_gather|all_reduce|all_to_all|reduce_scatter) / {
  kind = between($0, " = dist.", " ")
  axes = between($0, "on @mesh [", "]")
  gsub(/[" ]/, "", axes)
  ranks = 1
  count = split(axes, name, ",")
  for (i = 1; i <= count; ++i)
    ranks *= size[name[i]]
  bytes = 0
  count = split(substr($0, index($0, " : ")), type, "tensor<")
  for (i = 2; i <= count; ++i)
    bytes = larger(bytes, bytesOf(substr(type[i], 1, index(type[i], ">") - 1)))
  ++kinds[kind]
  row = kind " over " axes " of " sprintf("%.0f", bytes) " bytes"
  if (!rows[row]++)
    order[++ordered] = row
  total += (kind == "all_reduce" ? 2 : 1) * bytes * (ranks - 1) / ranks
}

END {
  print "sends " sent
  printf "%d all_gather, %d all_reduce, %d all_to_all, %d reduce_scatter\n", kinds["all_gather"], kinds["all_reduce"],
      kinds["all_to_all"], kinds["reduce_scatter"]
  for (i = 1; i <= ordered; ++i)
    print rows[order[i]] " " order[i]
  printf "%s", layouts
  if (total - sent >= 1 || sent - total >= 1) {
    printf "the collectives send %.0f bytes, by #dist.cost it is %s\n", total, sent > "/dev/stderr"
    exit 1
  }
}

function larger(a, b) { return a > b ? a : b }

# Of `text` what stands between the first `left` and the next `right`.
function between(text, left, right) {
  text = substr(text, index(text, left) + length(left))
  return substr(text, 1, index(text, right) - 1)
}

# Of a type such as 8x512xf32.
function bytesOf(type,    extents, rank, product, i) {
  rank = split(type, extents, "x")
  product = extents[rank] == "i1" ? 1 : substr(extents[rank], 2) / 8
  for (i = 1; i < rank; ++i)
    product *= extents[i]
  return product
}
