// The ways to settle faults, for those who run campaigns: CampaignOptions.settlers.
#ifndef REDOUBT_SETTLERS_H
#define REDOUBT_SETTLERS_H

struct Settler;
extern const struct Settler *const all_settlers[]; // in the order in which they are tried; NULL last

#endif
