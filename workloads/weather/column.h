// Clouds and rain in a column of air: single-moment microphysics with five classes of water: vapour, cloud water, cloud ice, rain
// and snow. Written by us after the usual bulk schemes (Kessler 1969; Lin, Farley and Orville 1983; Rutledge and Hobbs 1983; Hong,
// Dudhia and Chen 2004), simplified: it is no forecast model. Coefficients are from memory, not checked against the papers.
//
// The kernel compiles it in float, the check in double. So that both agree within a tolerance, every rate is a continuous
// function: processes set in gradually, are bounded by what there is, and take a fixed number of steps.
// Mass: what leaves one class enters another, so that only rain and snow that reach the ground leave the column.
#ifndef WEATHER_COLUMN_H
#define WEATHER_COLUMN_H

#if defined(__CUDA__) || defined(__CUDACC__) // clang, nvcc
typedef float Real;
#define WEATHER static inline __attribute__((always_inline)) __device__
WEATHER Real root(Real x) { return sqrtf(x); }
WEATHER Real power(Real x, Real y) { return exp2_approximate(y * log2_approximate(x)); }
WEATHER Real exponential(Real x) { return exp2_approximate(x * 1.44269504f); }
#else
#include <math.h>
typedef double Real;
#define WEATHER static inline
WEATHER Real root(Real x) { return sqrt(x); }
WEATHER Real power(Real x, Real y) { return pow(x, y); }
WEATHER Real exponential(Real x) { return exp(x); }
#endif

#define R(number) ((Real)(number))
#define FREEZING R(273.16)     // K
#define HEAT R(1004.0)         // J/kg/K, of air at constant pressure
#define VAPOUR_GAS R(461.5)    // J/kg/K
#define SUBLIMATION R(2.834e6) // J/kg
#define LITTLE R(1e-9)         // kg/kg: less of a class does nothing

// Of one level. Water in kg per kg of air.
typedef struct Level {
  Real temperature; // K
  Real vapour, cloud, ice, rain, snow;
  Real density, pressure, thickness; // kg/m3, Pa, m
} Level;

// What falls from a level to the next, kg/m2.
typedef struct Fall {
  Real rain, snow, ice;
} Fall;

// What the rates need of the air, and the slopes of the exponential distributions of drops and flakes.
typedef struct Air {
  Real cold;                     // K below freezing
  Real full_water, full_ice;     // saturation, kg/kg
  Real evaporation, fusion;      // latent heats, J/kg
  Real thin;                     // fall speeds grow in thin air
  Real resist_water, resist_ice; // of a growing particle's air to vapour and heat, s/m2
  Real vent;                     // how wind around falling particles helps
  Real rain_width, snow_width;   // 1 / slope, m
  Real snow_count;               // intercept, 1/m4
  Real ice_count, ice_size;      // 1/m3, m
} Air;

WEATHER Real least(Real a, Real b) { return a < b ? a : b; }
WEATHER Real most(Real a, Real b) { return a > b ? a : b; }
// What is to be left of `wanted` so that it does not exceed what there is, as a factor.
WEATHER Real share(Real available, Real wanted) { return wanted > available ? available / wanted : R(1.0); }

// Saturation over water (Bolton) and over ice (Murray); they meet at the freezing point.
WEATHER Real saturation(Real temperature, Real pressure, bool over_ice) {
  Real warm = temperature - FREEZING;
  Real exponent = over_ice && warm < 0 ? R(21.8745584) * warm / (temperature - R(7.66)) : R(17.67) * warm / (temperature - R(29.65));
  Real tension = least(R(611.2) * exponential(exponent), R(0.5) * pressure);
  return R(0.622) * tension / (pressure - tension);
}

WEATHER void look_at_particles(const Level *l, Air *air) {
  air->rain_width = root(root(l->density * most(l->rain, LITTLE) / R(2.5132741e10)));
  air->snow_count = R(2e6) * exponential(R(0.12) * least(most(air->cold, 0), R(80.0)));
  air->snow_width = root(root(l->density * most(l->snow, LITTLE) / (R(314.15927) * air->snow_count)));
  Real ice = l->density * most(l->ice, LITTLE);
  air->ice_count = least(most(R(5.38e7) * power(ice, R(0.75)), R(1e3)), R(1e6));
  air->ice_size = least(R(11.9) * root(ice / air->ice_count), R(5e-4));
}

WEATHER void look_at_air(const Level *l, Air *air) {
  Real t = l->temperature;
  air->cold = FREEZING - t;
  air->full_water = saturation(t, l->pressure, false);
  air->full_ice = saturation(t, l->pressure, true);
  air->evaporation = R(2.5e6) + R(2370.0) * air->cold;
  air->fusion = SUBLIMATION - air->evaporation;
  air->thin = root(R(1.28) / l->density);
  Real diffusivity = R(8.794e-5) * power(t, R(1.81)) / l->pressure;
  Real viscosity = R(1.496e-6) * t * root(t) / (t + R(120.0)) / l->density;
  Real conductivity = R(1414.0) * viscosity * l->density;
  Real heat = l->density / (conductivity * VAPOUR_GAS * t * t);
  air->resist_water = air->evaporation * air->evaporation * heat + R(1.0) / (air->full_water * diffusivity);
  air->resist_ice = SUBLIMATION * SUBLIMATION * heat + R(1.0) / (air->full_ice * diffusivity);
  air->vent = power(viscosity / diffusivity, R(0.3333333)) * root(air->thin / viscosity);
}

// Fall speeds, m/s.
WEATHER Real rain_speed(const Air *air) { return R(2502.9493) * power(air->rain_width, R(0.8)) * air->thin; }
WEATHER Real snow_speed(const Air *air) { return R(20.071289) * power(air->snow_width, R(0.41)) * air->thin; }
WEATHER Real ice_speed(const Air *air) { return R(1.49e4) * power(air->ice_size, R(1.31)); }

// A class falls: what came from above joins the level, and the part that gets through its floor in `seconds` leaves it.
WEATHER void fall_class(const Level *l, Real *water, Real *falling, Real speed, Real seconds) {
  Real mass = l->density * l->thickness, all = *water + *falling / mass;
  Real leaving = all * least(speed * seconds / l->thickness, R(1.0));
  *falling = leaving * mass;
  *water = all - leaving;
}

WEATHER void let_fall(Level *l, Fall *fall, Real seconds) {
  Air air;
  air.cold = FREEZING - l->temperature;
  air.thin = root(R(1.28) / l->density);
  look_at_particles(l, &air);
  fall_class(l, &l->rain, &fall->rain, rain_speed(&air), seconds);
  fall_class(l, &l->snow, &fall->snow, snow_speed(&air), seconds);
  fall_class(l, &l->ice, &fall->ice, ice_speed(&air), seconds);
}

// Vapour that a particle gains in a second, per intercept and relative supersaturation, over the resistance: exponential distributions.
WEATHER Real growth_of_rain(const Air *air) {
  Real w = air->rain_width;
  return R(6.2831853) * R(8e6) * (R(0.78) * w * w + R(0.32) * R(1.8273551) * R(29.015513) * air->vent * power(w, R(2.9)));
}
WEATHER Real growth_of_snow(const Air *air) {
  Real w = air->snow_width;
  return R(4.0) * air->snow_count * (R(0.65) * w * w + R(0.44) * R(1.5508607) * R(3.4234486) * air->vent * power(w, R(2.705)));
}

// Cloud drops gather to rain, rain sweeps them up, rain evaporates in dry air.
WEATHER void warm_rain(Level *l, const Air *air, Real seconds) {
  Real gathered = R(1e-3) * most(l->cloud - R(5e-4), 0) * seconds, swept = 0, dried = 0;
  if (l->rain > LITTLE) {
    swept = R(3103.9134) * R(8e6) * power(air->rain_width, R(3.8)) * air->thin * l->cloud * seconds;
    Real dry = most(R(1.0) - l->vapour / air->full_water, 0);
    dried = dry * growth_of_rain(air) / air->resist_water * seconds;
    dried = least(least(dried, l->rain), dry * air->full_water * R(0.3));
  }
  Real taken = (gathered + swept) * share(l->cloud, gathered + swept);
  l->cloud -= taken;
  l->rain += taken - dried;
  l->vapour += dried;
  l->temperature -= air->evaporation / HEAT * dried;
}

// Below freezing: ice forms and grows from vapour, snow gathers ice, cloud drops and vapour; drops freeze.
WEATHER void freeze(Level *l, const Air *air, Real seconds) {
  Real onset = least(air->cold, R(1.0)); // over the first degree
  Real excess = l->vapour - air->full_ice, relative = onset * excess / air->full_ice;
  Real nuclei = R(1e3) * exponential(R(0.1) * least(air->cold, R(60.0)));
  Real born = onset * least(most(R(4.92e-11) * power(nuclei, R(1.33)) / l->density - l->ice, 0), most(excess, 0));
  Real on_ice = R(4.0) * air->ice_size * relative * air->ice_count / air->resist_ice * seconds;
  Real on_snow = 0, gathered = R(1e-3) * most(l->ice - R(8e-5) / l->density, 0) * seconds, rimed = 0;
  if (l->snow > LITTLE) {
    Real w = air->snow_width, d = air->ice_size, past = snow_speed(air) - ice_speed(air);
    on_snow = relative * growth_of_snow(air) / air->resist_ice * seconds;
    gathered += R(0.78539816) * exponential(R(-0.07) * air->cold) * air->snow_count * l->ice * most(past, 0) *
                (R(2.0) * w * w * w + R(2.0) * d * w * w + d * d * w) * seconds;
    rimed = onset * R(27.737162) * air->snow_count * power(w, R(3.41)) * air->thin * l->cloud * seconds;
  }
  // Particles grow no faster than vapour comes above saturation, and lose no more than they have or the air takes up.
  Real bound = excess > 0 ? share(excess, born + on_ice + on_snow) : share(-excess, -(on_ice + on_snow));
  born *= bound;
  on_ice = most(on_ice * bound, -l->ice);
  on_snow = most(on_snow * bound, -l->snow);
  Real ice_left = l->ice + least(on_ice, 0);
  gathered = least(onset * gathered, ice_left);
  // Drops freeze by chance, the larger and colder the likelier (Bigg); all are frozen some degrees below -40 C.
  Real chance = exponential(R(0.66) * least(air->cold, R(40.0))) - R(1.0), w3 = air->rain_width * air->rain_width * air->rain_width;
  Real rain_freezes = least(R(1.97392e4) * R(8e6) * R(1e3) / l->density * chance * w3 * w3 * air->rain_width * seconds, l->rain);
  Real cloud_freezes = l->cloud * least(R(1e-7) * chance * seconds + most(air->cold - R(40.0), 0) * R(0.25), R(1.0));
  Real cloud_bound = share(l->cloud, rimed + cloud_freezes);
  rimed *= cloud_bound;
  cloud_freezes *= cloud_bound;

  l->vapour -= born + on_ice + on_snow;
  l->ice += born + on_ice - gathered + cloud_freezes;
  l->snow += on_snow + gathered + rimed + rain_freezes;
  l->rain -= rain_freezes;
  l->cloud -= rimed + cloud_freezes;
  l->temperature += SUBLIMATION / HEAT * (born + on_ice + on_snow) + air->fusion / HEAT * (rimed + rain_freezes + cloud_freezes);
}

// Above freezing: ice becomes cloud water and snow rain, as far as the heat goes; snow sweeps up drops, which stay water.
WEATHER void melt(Level *l, const Air *air, Real seconds) {
  Real warm = -air->cold, heat = warm * HEAT / air->fusion; // kg/kg that this warmth melts
  Real ice = least(l->ice, heat), snow = 0, swept = 0;
  if (l->snow > LITTLE) {
    Real conductivity = R(2.43e-2) + R(7e-5) * warm;
    snow = R(1.5707963) * conductivity * warm * growth_of_snow(air) / (air->fusion * l->density) * seconds;
    snow = least(least(snow, l->snow), heat - ice);
    swept = least(warm, R(1.0)) * R(27.737162) * air->snow_count * power(air->snow_width, R(3.41)) * air->thin * l->cloud * seconds;
    swept = least(swept, l->cloud);
  }
  l->ice -= ice;
  l->snow -= snow;
  l->cloud += ice - swept;
  l->rain += snow + swept;
  l->temperature -= air->fusion / HEAT * (ice + snow);
}

// Vapour above saturation over water condenses, cloud below it evaporates.
WEATHER void condense(Level *l, Real evaporation) {
  Real full = saturation(l->temperature, l->pressure, false), t = l->temperature;
  Real amount = (l->vapour - full) / (R(1.0) + evaporation * evaporation * full / (HEAT * VAPOUR_GAS * t * t));
  amount = most(amount, -l->cloud);
  l->vapour -= amount;
  l->cloud += amount;
  l->temperature += evaporation / HEAT * amount;
}

// A time step of one level: what came from above falls in and through, then everything reacts, in `parts` shorter steps.
WEATHER void step_level(Level *l, Fall *fall, Real seconds, int parts) {
  let_fall(l, fall, seconds);
  Real part = seconds / (Real)parts;
  for (int i = 0; i < parts; i++) {
    Air air;
    look_at_air(l, &air);
    look_at_particles(l, &air);
    warm_rain(l, &air, part);
    if (air.cold > 0) {
      freeze(l, &air, part);
    } else {
      melt(l, &air, part);
    }
    condense(l, air.evaporation);
  }
}

#endif
