// Matches of short reads against a reference in a suffix tree: for each start in a read, how many bases from there on occur in the
// reference, and where first. Source: Schatz et al., "High-throughput sequence alignment using graphics processing units", 2007
// (the mapping: a thread per read, tree and reference in textures); Chang and Lawler, "Sublinear approximate string matching
// and biological applications", 1994 (suffix links instead of a new search for each start).
#include "../cuda.h"

// Texel `i` of `nodes`: where the label of the edge to node i starts in the reference and where it ends, node i's suffix link, and
// whether it is a leaf (which has no link: a match that ends there stays on the edge).
// Texel `i` of `children`: node i's child for each base; 0 is the root and stands for none.
extern "C" __global__ void mummer_match(Texture nodes, Texture children, Texture reference, const unsigned char *reads, unsigned *length, unsigned *where, int read_count, int read_bases, int starts) {
  int read = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (read >= read_count) return;
  const unsigned char *bases = reads + read * read_bases;
  int node = 0, depth = 0; // the deepest node whose whole path matches, and that path's length
  int known = 0;           // bases beyond it that are known to match
  uint4 at = {0, 0, 0, 0}; // the node's texel
  for (int start = 0; start < starts; start++) {
    int position = depth > 0 ? (int)at.y - depth : 0;
    int part = 0; // bases that match on the edge below the node
    while (start + depth < read_bases) {
      unsigned base = bases[start + depth];
      uint4 child = fetch_uint4(children, node);
      int next = (int)(base < 2 ? base == 0 ? child.x : child.y : base == 2 ? child.z : child.w);
      if (next == 0) break;
      uint4 edge = fetch_uint4(nodes, next);
      int bases_of_edge = (int)(edge.y - edge.x), most = read_bases - start - depth;
      if (most > bases_of_edge) most = bases_of_edge;
      position = (int)edge.x - depth;
      part = known > 1 ? known : 1; // the child's first base matches
      while (part < most && fetch_uint(reference, (int)edge.x + part) == bases[start + depth + part]) part++;
      if (part < bases_of_edge || edge.w != 0) break;
      known = known > bases_of_edge ? known - bases_of_edge : 0;
      part = 0;
      node = next;
      depth += bases_of_edge;
      at = edge;
    }
    length[read * starts + start] = (unsigned)(depth + part);
    where[read * starts + start] = (unsigned)position;
    if (depth == 0) {
      known = part > 0 ? part - 1 : 0;
    } else {
      known = part;
      node = (int)at.z;
      depth--;
      at = fetch_uint4(nodes, node);
    }
  }
}
