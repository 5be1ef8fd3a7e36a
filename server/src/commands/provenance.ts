import { requireChoice, UsageError } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { PROVIDERS } from '../codehosts/catalogue.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { requireNote, settleBreaks } from '../provenance/chain/acknowledge-breaks.ts'
import { countLinks } from '../provenance/chain/chain.store.ts'
import type { StoredBreak } from '../provenance/chain/chain-break.ts'
import { findUnlinkedEntries } from '../provenance/chain/link.store.ts'
import type { ChainKey } from '../provenance/chain/link.ts'
import { listChains, type OpenBreak, type Verification, verifyChains } from '../provenance/chain/verify-chains.job.ts'
import { type LogBreak, verifyLog } from '../provenance/log/verify-log.ts'
import { settleRow } from '../provenance/statements/acknowledge-row.ts'
import type { RowBreak } from '../provenance/statements/authentic-key.ts'
import { verifyRows } from '../provenance/statements/verify-rows.job.ts'
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
    'Verifies the hash chains of change records, and what belongs to them. Without --repository, it also verifies signing keys and issued statements; without --org, the transparency log, too. Exits with 1 if something does not match and is not acknowledged.',
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

/** `rows` and `log` are null if keys and statements, or the transparency log, were not verified. */
type Named = NamedChains & { unlinked: string[]; rows: RowBreak[] | null; log: LogBreak[] | null }

async function verifyAll(services: Services, orgId: string | null, context: Context): Promise<Named> {
  const total = await countLinks(services.sql, orgId, null)
  const verification = await follow(services, listChains(services, orgId), { total, context })
  const rows = (await verifyRows(services, { orgId })).breaks
  if (orgId !== null) return { ...verification, unlinked: [], rows, log: null }
  const unlinked = await findUnlinkedEntries(services.sql)
  return { ...verification, unlinked, rows, log: await verifyWholeLog(services, context) }
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
  return { ...(await follow(services, chains, { total, context })), unlinked: [], rows: null, log: null }
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
  const { chains, links, unlinked, rows: ofRows, log } = verified
  const count = countBreaks(verified)
  const ok = count === 0
  const rows = [
    ...verified.breaks.map(toRow),
    ...(ofRows ?? []).map(({ part, resource, found }) => ['-', '-', `${part} ${resource}`, 'unknown', found, 'now']),
    ...(log ?? []).map(toLogRow),
  ]
  const others = [
    ...(ofRows === null ? [] : ['the issued statements']),
    ...(log === null ? [] : ['the transparency log']),
  ]
  const scope = ['', ...others].join(' and ')
  const lines = [
    ...(rows.length > 0 ? [formatTable(['REPOSITORY', 'INDEX', 'PART', 'EXPECTED', 'FOUND', 'SINCE'], rows, '')] : []),
    ...unlinked.map((hash) => `The log has the link ${hash}, but no chain has it.`),
    `${chains} chains with ${links} links${scope} were verified: ${ok ? 'ok' : counted(count)}.`,
  ]
  const breaks = [...toBreaks(verified.breaks), ...(ofRows ?? []).map(toForgedBreak), ...(log ?? []).map(toLogBreak)]
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

/** Keys, statements and the log belong to no repository. */
function toForgedBreak({ part, resource, found }: RowBreak) {
  return { part, resource, repository: null, index: null, expected: null, found }
}

function toLogBreak({ resource, index, expected, found }: LogBreak) {
  return { ...nameLogBreak(resource, index), repository: null, index, expected, found }
}

/** The entries that a tile consists of are those that are read from it. */
function nameLogBreak(resource: string, index: number) {
  if (resource === 'key') return { part: 'key', resource: 'log' }
  if (resource === 'checkpoint') return { part: 'checkpoint', resource: `${index}` }
  return { part: 'log_entry', resource }
}

function countBreaks({ breaks, unlinked, rows, log }: Named): number {
  return breaks.length + unlinked.length + (rows?.length ?? 0) + (log?.length ?? 0)
}

function counted(breaks: number): string {
  return `${breaks} ${breaks === 1 ? 'break' : 'breaks'}`
}

/** One break for each link: a changed link also differs from the rows that repeat it. */
function toBreaks(breaks: Named['breaks']) {
  const first = new Map(breaks.toReversed().map((one) => [`${Object.values(one.chain)} ${one.index}`, one]))
  return breaks
    .filter((one) => first.get(`${Object.values(one.chain)} ${one.index}`) === one)
    .map(({ chain, repository, index, expected, found }) => ({
      part: 'chain',
      resource: `${chain.provider}:${chain.repository_id}`,
      repository,
      index,
      expected: expected.toString('hex'),
      found: found?.toString('hex') ?? null,
    }))
}

const PARTS = ['chain', 'key', 'statement', 'log_entry', 'checkpoint'] as const

export const provenanceAcknowledge = defineCommand({
  name: 'provenance acknowledge',
  about:
    "Records what happened to a repository's broken chain: statements are issued again, and name the breaks. With --part and --resource, it ends the break of another row, as `provenance verify` names it: a statement is removed, and issued again when it is read next. Audited.",
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    repository: { type: 'text', value: 'owner/name', about: 'the repository, for its chain' },
    provider: PROVIDER,
    part: { type: 'text', value: PARTS.join('|'), about: 'what does not match, chain if it is not given' },
    resource: { type: 'text', value: 'R', about: 'which one, as `provenance verify --json` names it' },
    note: { type: 'text', value: 'N', about: 'what happened, in at most 2,000 characters', required: true },
  },
  async run(context, _given, { org, repository: named, provider, part: given = 'chain', resource, note }) {
    const part = requireChoice('part', given, PARTS)
    const name = part === 'chain' ? (named ?? resource) : resource
    if (name === undefined) throw new UsageError(part === 'chain' ? '--repository is missing' : '--resource is missing')
    requireNote(note)
    const breaks = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      const given = { principal: COMMAND_LINE, note }
      if (part === 'chain')
        return settleBreaks(services, await requireChain(services.sql, id, { repository: name, provider }), given)
      return settleRow(services, id, { part, resource: name }, given)
    })
    context.print(
      breaks
        ? toSettled(name, note, breaks)
        : { json: { part, resource: name, note }, text: `Acknowledged the ${part} ${name}.` },
    )
  },
})

function toSettled(repository: string, note: string, breaks: StoredBreak[]): Output {
  const json = { repository, note, breaks: breaks.map(({ index, part }) => ({ index, part })) }
  return { json, text: `Acknowledged ${counted(breaks.length)} in the chain of ${repository}.` }
}
