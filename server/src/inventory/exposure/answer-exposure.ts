import { hash } from 'node:crypto'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import type { MarkLane } from '../../deployments/deployment-mark.ts'
import { listDeploymentSubjects, type ShownSubject } from '../../deployments/deployment-subject.store.ts'
import type { Exposure } from '../../deployments/environments/environment.schema.ts'
import { listEnvironmentEntries } from '../../deployments/environments/environment.store.ts'
import { getEnvironmentFacts } from '../../deployments/environments/environment-facts.ts'
import { unknownVulnerability } from '../../errors/security.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { getDefaultHost, splitAddress } from '../../repositories/repository-identity.ts'
import { listSources } from '../../security/intel/intel-source.store.ts'
import {
  findShownVulnerability,
  findVulnerabilityIds,
  listGroupAdvisories,
  listVulnerabilityFindings,
  type PackageIssue,
} from '../../security/intel/vulnerability.store.ts'
import {
  listReportedRepositories,
  type ReportedRepository,
} from '../../security/repositories/reported-repository.store.ts'
import type { Services } from '../../services.ts'
import { parsePackage } from '../components/component-identity.ts'
import { formatPackageKey } from '../components/package-key.ts'
import { listUnreadableCommits } from '../sboms/sbom.store.ts'
import { VulnerabilityQuestion } from './component-verdict.ts'
import {
  type AffectedComponent,
  type DeployedDigest,
  type DeploymentVerdict,
  evaluateDeployment,
  mergeVerdicts,
  NOT_AFFECTED_REASONS,
  type NotAffectedReason,
  type ReadDocument,
  selectUnits,
} from './deployment-verdict.ts'
import {
  type CandidateFacts,
  type EvidenceDocument,
  type LiveDeployment,
  listCandidates,
  listCommitDocuments,
  listDigestDocuments,
  listDocumentChanges,
  listInferredDocuments,
  listLiveDeployments,
  listStreamFacts,
  type StreamFacts,
} from './evidence.store.ts'
import type { AffectedDeployment, AffectedElsewhere, ExposureAnswer, UnknownDeployment } from './exposure.schema.ts'

/** `countsExcluded`: whether components count that documents state to be excluded. */
export type AskedExposure = { vulnerability: string; countsExcluded: boolean; showsApprovals: boolean }

/**
 * Where a vulnerability is, by what is stored now: components, advisories and deployments, from one
 * snapshot of the database. Throws 404 `unknown_vulnerability`.
 */
export async function answerExposure(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  asked: AskedExposure,
): Promise<ExposureAnswer> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const upper = asked.vulnerability.trim().toUpperCase()
    // Ids of GitHub have lower-case letters, all others upper-case ones.
    const spellings = [asked.vulnerability, upper, `${upper.slice(0, 5)}${upper.slice(5).toLowerCase()}`]
    const ids = await findVulnerabilityIds(tx, orgId, spellings)
    if (ids === null) {
      const sources = await listSources(tx)
      throw unknownVulnerability(asked.vulnerability, Object.fromEntries(sources.map((one) => [one.source, one.as_of])))
    }
    const { vulnerability, as_of } = await findShownVulnerability(tx, orgId, ids)
    const question = new VulnerabilityQuestion(ids, await listGroupAdvisories(tx, ids))
    const world = await readWorld(tx, orgId, { ids, question })
    const judged = world.live.map((one) => ({ ...one, said: judge(one, world, { question, asked }) }))
    const affected = judged.flatMap((one) => describeAffected(one, world, asked))
    const unknown = judged.flatMap(({ said, repository, environment, exposure, id }): UnknownDeployment[] =>
      said.verdict === 'unknown'
        ? [
            {
              ...{ repository, environment, exposure, deployment_id: id, reason: said.reason },
              ...(said.subjects && { subjects: said.subjects }),
            },
          ]
        : [],
    )
    const elsewhere = listElsewhere(world, judged, { question, asked })
    const reasons = judged.flatMap(({ said }) => (said.verdict === 'not_affected' ? [said.reason] : []))
    const counted = NOT_AFFECTED_REASONS.map((reason) => [reason, reasons.filter((one) => one === reason).length])
    const not_affected = Object.fromEntries(counted) as Record<NotAffectedReason, number>
    return {
      vulnerability,
      as_of: { ...as_of, inventory: clock.now() },
      coverage: question.keys.length === 0 ? 'scanners_only' : 'advisories',
      counts: {
        live_deployments: judged.length,
        affected: judged.filter(({ said }) => said.verdict === 'affected').length,
        not_affected: reasons.length,
        unknown: unknown.length,
        affected_not_live: elsewhere.length,
      },
      affected,
      affected_not_live: elsewhere,
      not_affected,
      unknown,
    }
  })
}

type Live = LiveDeployment & {
  repository_nos: number[]
  exposure: Exposure
  documents: ReadDocument[]
  subjects: DeployedDigest[]
  isUnreadable: boolean
}

type World = {
  live: Live[]
  streams: StreamFacts[]
  facts: ReadonlyMap<number, CandidateFacts>
  findings: KeyedIssue[]
  repositories: ReadonlyMap<number, ReportedRepository>
}

/** `key`: that of the package in the package URL of a finding; null without one. */
type KeyedIssue = PackageIssue & { key: { type: string; package_key: string } | null }

/** Scanners write the names of packages in several ways, and package URLs in one. */
function toKeyedIssue(issue: PackageIssue): KeyedIssue {
  const found = issue.purl === null ? null : parsePackage(issue.purl)
  return { ...issue, key: found && { type: found.type, package_key: found.package_key } }
}

type Judging = { question: VulnerabilityQuestion; asked: AskedExposure }

/** Everything that the answer depends on, in a number of statements that does not depend on it. */
async function readWorld(
  tx: Tx,
  orgId: string,
  { ids, question }: { ids: readonly string[]; question: VulnerabilityQuestion },
): Promise<World> {
  const [deployments, named, entries, candidates, findings] = await Promise.all([
    listLiveDeployments(tx, orgId),
    listReportedRepositories(tx, orgId),
    listEnvironmentEntries(tx, orgId),
    question.keys.length === 0 ? [] : listCandidates(tx, orgId, question.keys),
    listVulnerabilityFindings(tx, orgId, ids),
  ])
  const index = new RepositoryIndex(named)
  const questions = deployments.map(({ id, commit_sha, begun_at, ...rest }) => {
    return { id, commit_sha, begun_at, repository_nos: index.select(rest) }
  })
  const about = await listCommitDocuments(tx, orgId, questions)
  const hasOwn = new Set(about.map(({ deployment_id }) => deployment_id))
  const others = questions.filter(({ id }) => !hasOwn.has(id))
  const numbers = candidates.map(({ no }) => no)
  const subjects = await listDeploymentSubjects(
    tx,
    orgId,
    deployments.map(({ id }) => id),
  )
  const digests = [...subjects].flatMap(([deployment_id, own]) =>
    own.flatMap((subject) => listDigests(subject).map((sha256) => ({ deployment_id, sha256 }))),
  )
  const ofDigests = await listDigestDocuments(tx, orgId, digests)
  const [inferred, unreadable, streams] = await Promise.all([
    listInferredDocuments(tx, orgId, others),
    listUnreadableCommits(tx, orgId, others),
    listStreamFacts(tx, orgId, numbers),
  ])
  const documents = [...about, ...inferred]
  const facts = new Map(candidates.map((candidate) => [candidate.no, candidate]))
  const contents = await readContents(tx, orgId, [...documents, ...ofDigests], { streams, facts })
  const byDeployment = Map.groupBy(documents, ({ deployment_id }) => deployment_id)
  const bySubject = Map.groupBy(ofDigests, ({ deployment_id, sha256 }) => `${deployment_id} ${sha256}`)
  const read = <Document extends EvidenceDocument>(document: Document) => ({
    ...document,
    components: contents.get(document.no) ?? [],
  })
  const live = deployments.map((one, at): Live => {
    const { environment, address: repository, provider } = one
    return {
      ...one,
      repository_nos: questions[at]?.repository_nos ?? [],
      exposure: getEnvironmentFacts(entries, { environment, repository, provider }).exposure,
      documents: (byDeployment.get(one.id) ?? []).map(read),
      subjects: (subjects.get(one.id) ?? []).map((subject) => {
        const { name, sha256, trust } = subject
        const digests = listDigests(subject)
        const own = digests.flatMap((digest) => bySubject.get(`${one.id} ${digest}`) ?? [])
        return { name, sha256, trust: trust as MarkLane, digests, documents: own.map(read) }
      }),
      isUnreadable: unreadable.has(one.id),
    }
  })
  return {
    live,
    streams,
    facts,
    findings: findings.map(toKeyedIssue),
    repositories: new Map(named.map((one) => [one.id, one])),
  }
}

/** The digest of a subject, and those of the manifests of its platforms. */
function listDigests({ sha256, platforms }: Pick<ShownSubject, 'sha256' | 'platforms'>): string[] {
  return [sha256, ...platforms.map((part) => part.sha256)]
}

/** Finds the rows under which documents and findings of a repository are kept. */
class RepositoryIndex {
  readonly #byId: ReadonlyMap<string, ReportedRepository[]>
  readonly #byName: ReadonlyMap<string, ReportedRepository[]>

  constructor(named: readonly ReportedRepository[]) {
    this.#byId = Map.groupBy(named, ({ provider, provider_id }) => `${provider} ${provider_id}`)
    this.#byName = Map.groupBy(named, ({ name }) => name.toLowerCase())
  }

  select(one: Pick<LiveDeployment, 'repository' | 'address' | 'unit_provider' | 'unit_repository'>): number[] {
    const isLinked = one.unit_provider !== ''
    const { host } = splitAddress(isLinked ? one.address : one.unit_repository)
    const guess = isLinked ? one.unit_provider : PROVIDERS.find((provider) => getDefaultHost(provider) === host)
    const ofName = (this.#byName.get(one.repository.toLowerCase()) ?? []).filter(
      ({ provider, provider_id }) =>
        (provider_id === null || !isLinked) && (provider === null || guess === undefined || provider === guess),
    )
    const ofId = isLinked ? (this.#byId.get(`${one.unit_provider} ${one.unit_repository}`) ?? []) : []
    return [...new Set([...ofId, ...ofName].map(({ id }) => id))]
  }
}

type Contents = ReadonlyMap<number, ReadDocument['components']>

/**
 * The named components of documents. What later documents of a stream changed is undone, from what
 * it has now.
 */
async function readContents(
  tx: Tx,
  orgId: string,
  documents: readonly EvidenceDocument[],
  { streams, facts }: Pick<World, 'streams' | 'facts'>,
): Promise<Contents> {
  const present = new Map(streams.map((stream) => [stream.id, stream.facts]))
  const unique = [...new Map(documents.map((document) => [document.no, document])).values()]
  const asked = unique.map(({ no, stream_id, is_older }) => ({ no, stream_id, is_older }))
  const numbers = [...facts.keys()]
  const changes = numbers.length === 0 ? [] : await listDocumentChanges(tx, orgId, asked, numbers)
  const byDocument = Map.groupBy(changes, ({ no }) => no)
  return new Map(
    unique.map(({ no, stream_id }) => {
      const contents = new Map(present.get(stream_id)?.map((one) => [one.no, one.direct]))
      for (const { later_no, added, removed } of byDocument.get(no) ?? []) {
        const [gone, back] = later_no === 0 ? [removed, added] : [added, removed]
        for (const fact of gone) contents.delete(fact)
        for (const fact of back) contents.set(fact, null)
      }
      const components = Array.from(contents, ([fact, direct]) => ({
        facts: facts.get(fact) as CandidateFacts,
        direct,
      }))
      return [no, components]
    }),
  )
}

type Judged = Live & { said: DeploymentVerdict }

function judge(live: Live, world: World, { question, asked }: Judging): DeploymentVerdict {
  if (question.keys.length === 0)
    return findScanned(live, world).length > 0
      ? { verdict: 'affected', components: [] }
      : { verdict: 'unknown', reason: 'no_advisory' }
  const { isUnreadable } = live
  const said = selectUnits(live.subjects, live.documents).map(({ subject, documents }) => ({
    subject,
    ...evaluateDeployment({
      ...{ vulnerability: question, documents, isUnreadable, countsExcluded: asked.countsExcluded },
      getDismissal: (component) => getDismissal(component, findIssues(live, world, component.facts)),
    }),
  }))
  return mergeVerdicts(said)
}

/** What scanners reported on a tracked branch or for the commit. */
function findScanned({ repository_nos, commit_sha }: Live, { findings }: World): PackageIssue[] {
  return findings.filter(
    (finding) =>
      finding.is_open &&
      repository_nos.includes(finding.repository_no) &&
      (finding.tracked || (commit_sha !== null && finding.commit_sha === commit_sha)),
  )
}

function findIssues({ repository_nos }: Pick<Live, 'repository_nos'>, { findings }: World, facts: CandidateFacts) {
  const key = formatPackageKey(facts.type, facts.name)
  return findings.filter(
    (finding) =>
      repository_nos.includes(finding.repository_no) &&
      (finding.key === null
        ? finding.package_name !== null && formatPackageKey(facts.type, finding.package_name) === key
        : finding.key.type === facts.type && finding.key.package_key === key) &&
      (finding.package_version === null || finding.package_version === facts.version),
  )
}

const DISMISSALS: Readonly<Record<string, NotAffectedReason>> = {
  false_positive: 'false_positive',
  used_in_tests: 'used_in_tests',
  mitigated: 'mitigated',
}

/**
 * Why all findings of the inventory about a component are dismissed; null if one is not, or if that
 * accepts the risk. One in a weaker lane than the evidence dismisses nothing (trust §4).
 */
function getDismissal({ lane }: AffectedComponent, issues: readonly PackageIssue[]): NotAffectedReason | null {
  const own = issues.filter((finding) => finding.lane === lane && (finding.is_open || finding.is_dismissed))
  let dismissal: NotAffectedReason | null = null
  for (const { is_open, is_vex, reason } of own) {
    const stated = is_vex ? 'vex' : DISMISSALS[reason ?? '']
    if (is_open || stated === undefined) return null
    dismissal ??= stated
  }
  return dismissal
}

/** Findings of the inventory first, and open ones. */
function selectIssue(issues: readonly PackageIssue[]): PackageIssue | undefined {
  const rank = ({ lane, is_open }: PackageIssue) => (lane === null ? 2 : 0) + (is_open ? 0 : 1)
  return issues.toSorted((a, b) => rank(a) - rank(b))[0]
}

function describeAffected(judged: Judged, world: World, { showsApprovals }: AskedExposure): AffectedDeployment[] {
  if (judged.said.verdict !== 'affected') return []
  const { repository, environment, exposure, id: deployment_id, since, trust, run_id, commit_sha } = judged
  const deployment = {
    ...{ repository, environment, exposure, deployment_id, deployed_at: since, trust, run_id, commit_sha },
    subjects: judged.subjects.map(({ name, sha256 }) => ({ name, sha256 })),
    approvals: showsApprovals
      ? judged.approvals.flatMap(({ decision, principal = '', display_name = null, at = '' }: StoredApproval) =>
          decision === 'approved' ? [{ principal, display_name, at }] : [],
        )
      : null,
  }
  if (judged.said.components.length === 0)
    return findScanned(judged, world).map((finding) => ({
      ...deployment,
      component: {
        ...{ id: null, purl: finding.purl, name: finding.package_name, version: finding.package_version },
        ...{ direct: null, path: null, scope: null },
      },
      evidence: finding.commit_sha === commit_sha && commit_sha !== null ? 'commit' : 'inferred',
      lane: null,
      ...{ fixed_version: null, issue_id: finding.issue_id, status: finding.status },
    }))
  return judged.said.components.map((component) => {
    const issue = selectIssue(findIssues(judged, world, component.facts))
    const { evidence, lane, fixed_version, facts, direct } = component
    return {
      ...{ ...deployment, component: toShownComponent(facts, direct), evidence, lane, fixed_version },
      ...{ issue_id: issue?.issue_id ?? null, status: issue?.status ?? 'open' },
    }
  })
}

function toShownComponent(
  { component_id: id, purl, name, version, path, scope }: CandidateFacts,
  direct: boolean | null,
) {
  return { id, purl, name, version, direct, path, scope }
}

type StoredApproval = { decision?: string; principal?: string; display_name?: string | null; at?: string }

/** Where newest documents have affected components that do not run in the repository. */
function listElsewhere(world: World, judged: readonly Judged[], { question, asked }: Judging): AffectedElsewhere[] {
  const live = new Set(
    judged.flatMap(({ said, repository_nos }) =>
      said.verdict === 'affected'
        ? said.components.flatMap(({ facts }) => repository_nos.map((no) => `${no} ${facts.component_no}`))
        : [],
    ),
  )
  const present = world.streams.filter(({ is_ended }) => !is_ended)
  const entries = present.flatMap((stream) =>
    stream.facts.flatMap(({ no, direct }) => {
      const facts = world.facts.get(no) as CandidateFacts
      if (facts.scope === 'excluded' && !asked.countsExcluded) return []
      if (live.has(`${stream.repository_no} ${facts.component_no}`) || question.isPatched(facts)) return []
      const said = question.evaluate(facts, stream.operating_system)
      if (said?.verdict !== 'affected') return []
      const issue = selectIssue(findIssues({ repository_nos: [stream.repository_no] }, world, facts))
      const { repository_no, category, git_ref, lane } = stream
      const repository = world.repositories.get(repository_no)?.name ?? ''
      const entry = { repository, category, git_ref, lane, component: toShownComponent(facts, direct) }
      const stated = { ...entry, fixed_version: said.fixed_version, issue_id: issue?.issue_id ?? null }
      return [[`${repository_no} ${category} ${git_ref} ${lane} ${facts.component_no}`, stated] as const]
    }),
  )
  const unique = new Map(entries)
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
}

/** More entries are sent in pages. */
export const ENTRIES_MAX = 10_000

/** A part of an answer: its entries from `start` on. `state` is equal for equal answers. */
export function selectExposurePage(answer: ExposureAnswer, start: number) {
  const lists = ['affected', 'affected_not_live', 'unknown'] as const
  const total = lists.reduce((sum, list) => sum + answer[list].length, 0)
  let skipped = start
  let left = ENTRIES_MAX
  const page = { ...answer }
  for (const list of lists) {
    const entries = answer[list].slice(skipped, skipped + left)
    skipped = Math.max(0, skipped - answer[list].length)
    left -= entries.length
    Object.assign(page, { [list]: entries })
  }
  const next = start + ENTRIES_MAX < total ? start + ENTRIES_MAX : null
  const { as_of: _, ...compared } = answer
  return {
    page,
    next,
    state: next === null && start === 0 ? '' : hash('sha256', JSON.stringify(compared), 'base64url'),
  }
}
