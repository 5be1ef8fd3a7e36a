import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf, memberOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { SeededRandom } from '../../../platform/seeded-random.ts'
import { groupMembers } from './group-members.ts'
import type { GroupingFacts, Member } from './grouping-facts.ts'
import type { Edit, Edits, Pin } from './pins.ts'

const NAMES = { canonicalId: (id: string) => id, rules: RULES }

/** A repository in memory: stored findings with their issues, and the edits of people. */
class Repository {
  members: Member[] = []
  edits: Edit[] = []
  pins: Pin[] = []
  #made = 0

  #next(prefix: string): string {
    this.#made += 1
    return `${prefix}${String(this.#made).padStart(6, '0')}`
  }

  /** Groups everything, with new findings, and stores the result. */
  regroup(fresh: readonly GroupingFacts[] = []): void {
    const added = fresh.map((facts) => memberOf(facts))
    const groups = groupMembers([...this.members, ...added], NAMES, { edits: this.edits, pins: this.pins })
    const ids = new Map(added.map((member) => [member, this.#next('f')]))
    this.members = groups
      .flatMap((group) => {
        const issue = group.issue_id ?? this.#next('i')
        return group.members.map(({ member, reason }) => ({
          ...member,
          id: member.id ?? (ids.get(member) as string),
          issue_id: issue,
          position: null,
          grouping_code: reason.code,
          grouping_detail: reason.detail,
        }))
      })
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  grouping(): Record<string, string> {
    return Object.fromEntries(this.members.map(({ id, issue_id }) => [id as string, issue_id as string]))
  }

  idsOf(issue: string): string[] {
    return this.members.flatMap(({ id, issue_id }) => (issue_id === issue ? (id as string) : []))
  }

  get issues(): string[] {
    return [...new Set(Object.values(this.grouping()))].sort()
  }

  split(issue: string, moved: readonly string[]): string {
    const made = this.#next('i')
    this.#edit('split', this.idsOf(issue), (id) => (moved.includes(id) ? 1 : 0))
    this.#move((id) => (moved.includes(id) ? made : null))
    this.regroup()
    return made
  }

  merge(issues: readonly string[]): string {
    const into = issues.toSorted()[0] as string
    const ids = issues.flatMap((issue) => this.idsOf(issue))
    this.#edit('merge', ids, () => 0)
    this.#move((id) => (ids.includes(id) ? into : null))
    this.regroup()
    return into
  }

  undo(before: Record<string, string>): void {
    const { no } = this.edits.pop() as Edit
    this.pins = this.pins.filter(({ edit_no }) => edit_no !== no)
    this.#move((id) => before[id] ?? null)
    this.regroup()
  }

  #edit(action: Edit['action'], ids: readonly string[], sideOf: (id: string) => number): void {
    const no = (this.edits.at(-1)?.no ?? 0) + 1
    this.edits.push({ no, action, by: 'Ada Lovelace', comment: null })
    for (const id of ids) this.pins.push({ edit_no: no, finding_id: id, side: sideOf(id) })
  }

  #move(issueOf: (id: string) => string | null): void {
    this.members = this.members.map((member) => ({
      ...member,
      issue_id: issueOf(member.id as string) ?? member.issue_id,
    }))
  }
}

/** What the edits state about two findings: the latest edit that contains both counts. */
function statedPairs({ pins }: Edits): Map<string, boolean> {
  const stated = new Map<string, boolean>()
  for (const [, of] of [...Map.groupBy(pins, ({ edit_no }) => edit_no)].sort(([a], [b]) => a - b)) {
    for (const one of of) {
      for (const other of of) {
        if (one.finding_id < other.finding_id)
          stated.set(`${one.finding_id} ${other.finding_id}`, one.side === other.side)
      }
    }
  }
  return stated
}

function assertEditsHold(repository: Repository): void {
  const grouping = repository.grouping()
  for (const [pair, together] of statedPairs(repository)) {
    const [one, other] = pair.split(' ') as [string, string]
    assert.equal(grouping[one] === grouping[other], together, `${pair} are ${together ? 'apart' : 'together'}`)
  }
}

/** Few values, so that many findings match by several rules. */
function anyFacts(random: SeededRandom): GroupingFacts {
  const tool = random.pick(['Semgrep', 'CodeQL', 'Trivy', 'Grype'])
  const fingerprint = random.pick([null, 'aa', 'bb', 'cc', 'dd'])
  const stream_id = random.below(3)
  if (random.below(2) === 0) {
    const ids = random.pick([['CVE-2024-1000'], ['CVE-2024-2000'], ['GHSA-1', 'CVE-2024-1000'], ['GHSA-1']])
    return packageFacts(ids, { tool, fingerprint, stream_id, package_name: random.pick(['lodash', 'axios']) })
  }
  const line = random.pick([null, 4, 8, 12])
  return factsOf({
    tool,
    fingerprint,
    stream_id,
    start_line: line,
    path: random.pick(['src/a.ts', 'src/b.ts']),
    cwes: random.pick([['CWE-79'], ['CWE-89'], []]),
    rule_id: random.pick(['js/dom-xss', 'sqli', null]),
    context: random.pick([null, 'ee', 'ff']),
  })
}

const someFacts = (random: SeededRandom) => Array.from({ length: random.below(6) + 1 }, () => anyFacts(random))

function anyPart(random: SeededRandom, ids: readonly string[]): string[] {
  const moved = ids.filter(() => random.below(2) === 0)
  return moved.length === 0 ? [random.pick(ids)] : moved.length === ids.length ? moved.slice(1) : moved
}

function randomEdit(repository: Repository, random: SeededRandom): void {
  const big = repository.issues.filter((issue) => repository.idsOf(issue).length > 1)
  const before = repository.grouping()
  const others = (changed: readonly string[]) =>
    Object.entries(repository.grouping()).filter(([id]) => !changed.includes(before[id] as string))
  if (random.below(2) === 0 && big.length > 0) {
    const issue = random.pick(big)
    const moved = anyPart(random, repository.idsOf(issue))
    const made = repository.split(issue, moved)
    assert.deepEqual(repository.idsOf(made), moved.toSorted())
    assert.deepEqual(
      others([issue]),
      Object.entries(before).filter(([id]) => before[id] !== issue),
    )
  } else if (repository.issues.length > 1) {
    const issues = [...new Set([random.pick(repository.issues), random.pick(repository.issues)])]
    const ids = issues.flatMap((issue) => repository.idsOf(issue)).sort()
    assert.deepEqual(repository.idsOf(repository.merge(issues)), ids)
  }
}

const seeds = fc.integer({ min: 0, max: 1e9 })

test('splits and merges hold through reports and regroups, and change nothing but their issues', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const random = new SeededRandom(seed)
      const repository = new Repository()
      repository.regroup(someFacts(random))
      for (let step = 0; step < 12; step += 1) {
        if (random.below(3) === 0) repository.regroup(someFacts(random))
        else randomEdit(repository, random)
        assertEditsHold(repository)
        const before = repository.members
        repository.regroup()
        assert.deepEqual(repository.members, before)
      }
    }),
    { numRuns: 300 },
  )
})

test('undone in the reverse order, splits and merges leave the grouping as it was', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const random = new SeededRandom(seed)
      const repository = new Repository()
      for (let step = 0; step < 3; step += 1) repository.regroup(someFacts(random))
      const states: Member[][] = []
      for (let step = 0; step < 6; step += 1) {
        const { length } = repository.edits
        const before = repository.members
        randomEdit(repository, random)
        if (repository.edits.length > length) states.push(before)
      }
      for (const state of states.reverse()) {
        repository.undo(Object.fromEntries(state.map(({ id, issue_id }) => [id as string, issue_id as string])))
        assert.deepEqual(repository.members, state)
      }
    }),
    { numRuns: 200 },
  )
})
