import { createTolerantReads, type TolerantReads } from '../../ci/provider-runs/tolerant-reads.ts'
import { type HostClient, HostRefusal, HostUnavailable } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'

/** Reads about one repository. What the host cannot say is null. */
export type HostReads = {
  /** Null while no active connection covers the repository. */
  source: HostSource | null
  /** `kind` names the endpoint. Null: the host refused, or did not answer. */
  read<Value>(
    kind: string,
    request: (client: HostClient, repository: HostRepository) => Promise<Value>,
  ): Promise<Value | null>
  /** The number of reads that gave nothing now and may succeed later. */
  readonly missed: number
  /** Whether the host answers no request at all, and when it accepts requests again, if known. */
  failure(): Promise<{ is_down: boolean; retry_at: Date | null }>
}

export async function openHostReads(services: Services, key: RepositoryKey): Promise<HostReads> {
  const opened = await openRepository(services, key, { impatient: true })
  if (opened === null) return withoutConnection()
  const { client, repository, connection } = opened
  const reads = createTolerantReads()
  return {
    source: { org_id: key.org_id, connection_id: connection.id, provider: connection.provider, host: connection.host },
    read: (kind, request) =>
      reads.read(kind, () => readFitting(services, kind, () => request(client, repository)), null),
    get missed() {
      return reads.missed
    },
    failure: async () => ({ is_down: !(await answers(client)), retry_at: retryAt(reads) }),
  }
}

/** The repository left its connection, or the connection is suspended: the host cannot be asked. */
function withoutConnection(): HostReads {
  let missed = 0
  return {
    source: null,
    async read() {
      missed += 1
      return null
    },
    get missed() {
      return missed
    },
    failure: async () => ({ is_down: true, retry_at: null }),
  }
}

/** An answer of an unexpected form counts as no answer. Another request would not help. */
async function readFitting<Value>({ log }: Services, kind: string, request: () => Promise<Value>) {
  try {
    return await request()
  } catch (err) {
    if (err instanceof HostRefusal || err instanceof HostUnavailable) throw err
    log.warn({ err, kind }, 'Could not use an answer of the code host')
    return null
  }
}

async function answers(client: HostClient): Promise<boolean> {
  try {
    await client.listRepositories({})
    return true
  } catch (error) {
    return !(error instanceof HostUnavailable)
  }
}

function retryAt(reads: TolerantReads): Date | null {
  try {
    reads.end()
  } catch (error) {
    return error instanceof HostUnavailable ? error.retryAt : null
  }
  return null
}
