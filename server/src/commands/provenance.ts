import { COMMAND_LINE } from '../audit/audit.store.ts'
import { PROVIDERS } from '../codehosts/catalogue.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { settleBreaks } from '../provenance/chain/acknowledge-breaks.ts'
import { countLinks } from '../provenance/chain/chain.store.ts'
import { findUnlinkedEntries } from '../provenance/chain/link.store.ts'
import type { ChainKey } from '../provenance/chain/link.ts'
import { listChains, type OpenBreak, type Verification, verifyChains } from '../provenance/chain/verify-chains.job.ts'
import { type LogBreak, verifyLog } from '../provenance/log/verify-log.ts'
import type { Services } from '../services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { findChainName, requireChain, requireChains } from './chain-names.ts'
import { type Context, defineCommand, formatTable, type Output } from './command.ts'
import { withServices } from './with-services.ts'

const PROVIDER = { type: 'text', value: PROVIDERS.join('|'), about: 'the code host of the repository' } as const
/** Fewer links or entries are verified in an instant, without a progress bar. */
const LONG = 10_000

export const provenanceVerify = defineCommand({
  name: 'provenance verify',
  about:
    'Verifies the hash chains of change records, and what belongs to them. Without --org and --repository, it verifies the transparency log, too. Exits with 1 if something does not match and is not acknowledged.',
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'only chains of this organization' },
    repository: { type: 'text', value: 'owner/name', about: 'only the chain of this repository' },
    provider: PROVIDER,
  },
  async run(context, _given, { org, repository, provider }) {
    const verified = await withServices(context, async (services) => {
      const orgId = org === undefined ? null : (await requireOrganization(services.sql, org)).id
      if (repository === undefined) return verifyAll(services, orgId, context)
      const chains = await requireChains(services.sql, orgId, { repository, provider })
      return verifyListed(services, chains, context)
    })
    context.print(toOutput(verified))
    const count = countBreaks(verified)
    if (count > 0) throw new Error(`Not ok: ${counted(count)}; docs/operations.md says what to do`)
  },
})

type NamedChains = Omit<Verification, 'breaks'> & { breaks: (OpenBreak & { repository: string })[] }

/** `log` is null if the transparency log was not verified. */
type Named = NamedChains & { unlinked: string[]; log: LogBreak[] | null }

async function verifyAll(services: Services, orgId: string | null, context: Context): Promise<Named> {
  const total = await countLinks(services.sql, orgId, null)
  const verification = await follow(services, listChains(services, orgId), { total, context })
  if (orgId !== null) return { ...verification, unlinked: [], log: null }
  const unlinked = await findUnlinkedEntries(services.sql)
  return { ...verification, unlinked, log: await verifyWholeLog(services, context) }
}

async function verifyWholeLog(services: Services, context: Context): Promise<LogBreak[]> {
  const progress = new ProgressBar(context.say)
  const breaks = await verifyLog(services, (done, size) => {
    if (size >= LONG) progress.reach(done, size, 'log entries')
  })
  progress.end()
  return breaks
}

async function verifyListed(services: Services, chains: ChainKey[], context: Context): Promise<Named> {
  const lengths = await Promise.all(chains.map((chain) => countLinks(services.sql, null, chain)))
  const total = lengths.reduce((sum, length) => sum + length, 0)
  return { ...(await follow(services, chains, { total, context })), unlinked: [], log: null }
}

type Following = { total: number; context: Context }

async function follow(
  services: Services,
  chains: Parameters<typeof verifyChains>[1],
  { total, context }: Following,
): Promise<NamedChains> {
  const progress = total < LONG ? null : new ProgressBar(context.say)
  let done = 0
  const onProgress = (links: number) => {
    done += links
    progress?.reach(done, total, 'links')
  }
  const verification = await verifyChains(services, chains, { onProgress })
  progress?.end()
  const names = verification.breaks.map(({ chain }) => findChainName(services.sql, chain))
  const named = (await Promise.all(names)).map((repository, nth) => ({
    ...(verification.breaks[nth] as OpenBreak),
    repository,
  }))
  return { ...verification, breaks: named }
}

function toOutput(verified: Named): Output {
  const { chains, links, unlinked, log } = verified
  const count = countBreaks(verified)
  const ok = count === 0
  const rows = [...verified.breaks.map(toRow), ...(log ?? []).map(toLogRow)]
  const scope = log === null ? 'were verified' : 'and the transparency log were verified'
  const lines = [
    ...(rows.length > 0 ? [formatTable(['REPOSITORY', 'INDEX', 'PART', 'EXPECTED', 'FOUND', 'SINCE'], rows, '')] : []),
    ...unlinked.map((hash) => `The log has the link ${hash}, but no chain has it.`),
    `${chains} chains with ${links} links ${scope}: ${ok ? 'ok' : counted(count)}.`,
  ]
  const breaks = [...toBreaks(verified.breaks), ...(log ?? []).map(toLogBreak)]
  return { json: { ok, chains, links, breaks, unlinked }, text: lines.join('\n') }
}

function toRow({ repository, index, part, expected, found, found_at }: Named['breaks'][number]): string[] {
  return [
    repository,
    `${index}`,
    part,
    expected.toString('hex'),
    found?.toString('hex') ?? 'missing',
    `${found_at.toJSON()}`,
  ]
}

function toLogRow({ resource, index, expected, found }: LogBreak): string[] {
  return ['-', `${index}`, `log ${resource}`, expected ?? 'unknown', found ?? 'missing', 'now']
}

/** The log belongs to no repository. */
function toLogBreak({ index, expected, found }: LogBreak) {
  return { repository: null, index, expected, found }
}

function countBreaks({ breaks, unlinked, log }: Named): number {
  return breaks.length + unlinked.length + (log?.length ?? 0)
}

function counted(breaks: number): string {
  return `${breaks} ${breaks === 1 ? 'break' : 'breaks'}`
}

/** One break for each link: a changed link also differs from the rows that repeat it. */
function toBreaks(breaks: Named['breaks']) {
  const first = new Map(breaks.toReversed().map((one) => [`${Object.values(one.chain)} ${one.index}`, one]))
  return breaks
    .filter((one) => first.get(`${Object.values(one.chain)} ${one.index}`) === one)
    .map(({ repository, index, expected, found }) => {
      return { repository, index, expected: expected.toString('hex'), found: found?.toString('hex') ?? null }
    })
}

export const provenanceAcknowledge = defineCommand({
  name: 'provenance acknowledge',
  about:
    "Records what happened to a repository's broken chain. Statements are issued again, and name the breaks. Audited.",
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    repository: { type: 'text', value: 'owner/name', about: 'the repository', required: true },
    provider: PROVIDER,
    note: { type: 'text', value: 'N', about: 'what happened, in at most 2,000 characters', required: true },
  },
  async run(context, _given, { org, repository, provider, note }) {
    const breaks = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      const chain = await requireChain(services.sql, id, { repository, provider })
      return settleBreaks(services, chain, { principal: COMMAND_LINE, note })
    })
    const json = { repository, note, breaks: breaks.map(({ index, part }) => ({ index, part })) }
    context.print({ json, text: `Acknowledged ${counted(breaks.length)} in the chain of ${repository}.` })
  },
})
