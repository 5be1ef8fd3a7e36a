import { HostRefusal, HostUnavailable } from '../../codehosts/code-host.ts'

/**
 * Reads from a host, so that a request that fails costs only what it was for. `end` throws the
 * first failure that a later try may not have, after the rest has been stored.
 */
export type TolerantReads = {
  /** `kind` names requests that fail together, such as those to one endpoint. */
  read<Value, Otherwise>(kind: string, request: () => Promise<Value>, otherwise: Otherwise): Promise<Value | Otherwise>
  /** The number of reads that gave nothing now and may succeed later. */
  readonly missed: number
  end(): void
}

/** Requests of a kind that fails this often are left out. */
const FAILURES_MAX = 3

export function createTolerantReads(): TolerantReads {
  let unavailable: HostUnavailable | null = null
  const failures = new Map<string, number>()
  let missed = 0
  return {
    async read(kind, request, otherwise) {
      const failed = failures.get(kind) ?? 0
      if (failed >= FAILURES_MAX) {
        missed += 1
        return otherwise
      }
      try {
        return await request()
      } catch (error) {
        if (error instanceof HostRefusal) return otherwise
        if (!(error instanceof HostUnavailable)) throw error
        unavailable ??= error
        failures.set(kind, failed + 1)
        missed += 1
        return otherwise
      }
    },
    get missed() {
      return missed
    },
    end() {
      if (unavailable !== null) throw unavailable
    },
  }
}

/** For how long a host is asked again for what it could not give. */
export const READ_AGAIN_MS = 6 * 3_600_000
