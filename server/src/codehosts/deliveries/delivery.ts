import { crc32 } from 'node:zlib'
import type { Provider } from '../catalogue.ts'
import type { DeliveryHead } from '../code-host.ts'

export const DELIVERY_STATUSES = ['received', 'applied', 'ignored', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A verified delivery that has just arrived. */
export type NewDelivery = DeliveryHead & { provider: Provider; received_at: Date; payload: string }

/** How many jobs can apply deliveries side by side. A stored delivery keeps its shard. */
const SHARDS = 8

/** The shard of a lane. */
export function computeShard(lane: string): number {
  return crc32(lane) % SHARDS
}

/** Tries after which a delivery is `failed`. */
export const ATTEMPTS_MAX = 5

const PAUSES_MS = [30_000, 60_000, 5 * 60_000, 15 * 60_000]

/**
 * When a delivery may be tried again after its try number `attempts` failed; null after the last
 * one.
 */
export function computeNextTry(attempts: number, now: Date): Date | null {
  const pauseMs = attempts < ATTEMPTS_MAX ? PAUSES_MS[attempts - 1] : undefined
  return pauseMs === undefined ? null : new Date(now.getTime() + pauseMs)
}
