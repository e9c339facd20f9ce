// Graphs: nodes with their dependencies, and executable copies of them.
#ifndef REDOUBT_CUDART_GRAPH_H
#define REDOUBT_CUDART_GRAPH_H

#include "cudart/runtime.h"

enum { MOST_GRAPH_LEVELS = 64 }; // graphs in graphs

struct GraphNode {
  Graph *graph;
  uint32_t index;      // among the graph's nodes
  Operation operation; // owns its kernel arguments and its child graph
  NodeSet dependencies;
  GraphNode *origin; // in a clone: the node it was copied from
  bool disabled;
};

struct Graph {
  GraphNode **nodes; // in the order of their making; malloc
  uint32_t count, capacity;
  bool owned;       // by a node or an executable graph: not the program's to destroy
  uint32_t level;   // how many graphs it lies in
  uint32_t running; // times it is being run at this moment
  bool doomed;      // freed while it ran: goes when the last run ends
};

struct GraphExec {
  Graph *graph; // a clone of what was instantiated
  uint64_t flags;
};

Graph *graph_new(Runtime *runtime);
CudaError graph_clone(Runtime *runtime, const Graph *graph, uint32_t level, Graph **clone);
void graph_free(Runtime *runtime, Graph *graph);
bool graph_is_captured(const Runtime *runtime, const Graph *graph); // some stream's work becomes its nodes
bool graph_has_nodes(const Runtime *runtime, const Graph *graph, GraphNode *const *nodes, size_t count); // live ones of its own
// Adds a node that keeps its own copy of what the operation points to.
CudaError graph_add(Runtime *runtime, Graph *graph, const Operation *operation, GraphNode *const *dependencies, size_t count,
                    GraphNode **node);
void graph_remove(Runtime *runtime, GraphNode *node);
// Replaces a node's parameters, which must be of its type.
CudaError graph_node_set(Runtime *runtime, GraphNode *node, const Operation *operation);
GraphNode *graph_clone_of(const Graph *clone, const GraphNode *origin);                    // NULL: none
bool graph_is_acyclic(const Graph *graph);                                                 // and the graphs in it
CudaError graph_exec_update(GraphExec *exec, Graph *graph, GraphExecUpdateResult *result); // an API call's body
bool graph_write_dot(const Graph *graph, const char *path);

#endif
