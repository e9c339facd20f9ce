// The interconnect between SMs and memory partitions: a crossbar or a two-dimensional mesh with dimension-order
// routing. Two separate networks, requests and replies, so that replies can always drain. Finite buffers
// and real back-pressure: a packet moves only into a free place, and holds a link for as many cycles as
// it has flits. Packets carry their data.
#ifndef REDOUBT_PARTS_NETWORK_H
#define REDOUBT_PARTS_NETWORK_H

#include "machine/parts/packet.h"

typedef enum NetworkKind { NETWORK_CROSSBAR, NETWORK_MESH } NetworkKind; // order of config.def's choices

// Ports of a mesh router. Input `i` of the router at position p is buffer p * 5 + i, output `i` is link p * 5 + i.
typedef enum MeshPort { MESH_LOCAL, MESH_EAST, MESH_WEST, MESH_SOUTH, MESH_NORTH, MESH_PORTS } MeshPort;

enum { NETWORK_MOST_NODES = 2048, NETWORK_MOST_BUFFERS = 46 * 46 * MESH_PORTS, NETWORK_WORDS = (NETWORK_MOST_BUFFERS + 63) / 64 };

typedef struct MeshSpot {
  uint8_t column, row;
} MeshSpot;

// Fixed for a machine. Sources inject, sinks eject. Mesh: every node has a router; the fewer of sources and sinks are
// spread evenly among all nodes (sinks when equal), so that both directions agree on where a node lies.
typedef struct NetworkShape {
  NetworkKind kind;
  uint32_t sources, sinks;
  uint32_t columns, grid_rows; // mesh
  uint32_t flit_bytes;
  uint32_t latency;                         // crossbar: cycles from first flit in to first flit out; mesh: per router
  uint32_t buffer;                          // packets per input buffer
  uint32_t buffer_count;                    // buffers in all
  MeshSpot source_spot[NETWORK_MOST_NODES]; // mesh
  MeshSpot sink_spot[NETWORK_MOST_NODES];
} NetworkShape;

typedef struct NetworkBuffer { // an input buffer of a router (or of a crossbar input), its packets in the array beside it
  PacketQueue queue;
  uint32_t link;          // that the packet at its front wants; 0: empty. Follows from the packet
  uint32_t next;          // round robin of the output this buffer index also stands for
  uint64_t input_free_at; // when this buffer has passed its last packet on
  uint64_t link_free_at;  // when the output link of this index is free again
} NetworkBuffer;

// Lets a cycle look only at buffers that hold something, and only when something can move.
typedef struct NetworkControl {
  uint64_t wake_at;               // nothing moves before
  uint64_t active[NETWORK_WORDS]; // bit i: buffer i holds a packet
} NetworkControl;

// Sources + sinks are at most NETWORK_MOST_NODES; all numbers positive.
NetworkShape network_shape(NetworkKind kind, uint32_t sources, uint32_t sinks, uint32_t flit_bytes, uint32_t latency, uint32_t buffer);
// State: one NetworkControl, shape.buffer_count NetworkBuffers and front times, shape.buffer_count * shape.buffer packets, and as many
// ready times. All zero is an empty network.
typedef struct Network {
  const NetworkShape *shape;
  NetworkControl *control;
  NetworkBuffer *buffers;
  uint64_t *front_at; // per buffer: cycle from which its front packet may leave, by ready_at and input_free_at; 0: empty
  Packet *packets;
  uint64_t *ready_at; // per packet place: cycle from which it may leave this buffer
  void (*place)(void *context, uint64_t place, const Packet *packet,
                bool taken); // told of places taken and released; NULL: nobody wants to know
  void *context;             // of place
} Network;                   // typed pointers into the block, re-made when it moves

bool network_can_send(const Network *network, uint32_t source);
// Only when network_can_send. Its last flit arrives at `sink` (0..sinks-1) latency + flits - 1 cycles later at the earliest, with one
// latency per router on the way, first and last included.
void network_send(Network *network, uint32_t source, uint32_t sink, const Packet *packet, uint64_t now);
// What lies behind the sinks: whether one takes a packet now, and who gets it. Each sink gets one a cycle at most.
typedef struct NetworkOutlet {
  bool (*has_room)(void *context, uint32_t sink);
  void (*deliver)(void *context, uint32_t sink, const Packet *packet);
  void *context;
} NetworkOutlet;
// One cycle. True: something moved. *next: the earliest later cycle in which something can, UINT64_MAX for never; packets that wait only
// for a sink's room do not count, because the sink itself moves first.
bool network_cycle(Network *network, uint64_t now, const NetworkOutlet *outlet, uint64_t *next);
bool network_is_empty(const Network *network);

#endif
