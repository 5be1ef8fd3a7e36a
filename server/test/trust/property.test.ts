// No second chance: nobody weaker silences. `npm run test:trust` plays 10,000 histories.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Lane } from '../../src/ci/runs/trust.ts'
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { TESTS } from '../support/ci-reports.ts'
import { configureGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { clearJobs, drainQueue } from '../support/queue.ts'
import { sarif, scoredResult } from '../support/sarif.ts'
import { LANES, SENDERS, type Sender, type Shop, TrustWorld } from '../support/trust-world.ts'
import { notAffected, openVex, vulnerable } from '../support/vex.ts'

const HISTORIES = Number(process.env.SHIPLOCK_TEST_HISTORIES ?? 20)
const SEED = Number(process.env.SHIPLOCK_TEST_SEED ?? 20260302)
const ACTS_MAX = 9
/** Histories that are played beside each other. One alone: its seed, and SHIPLOCK_TEST_HISTORIES=1. */
const BATCH = 20
const WORLD_HISTORIES = 400

const CLASSES = ['verified', 'uploaded', 'any'] as const
type Class = (typeof CLASSES)[number]
const RULES = {
  tests: 'attestations.exists(a, a.kind == "test-results") && attestations.all(a, a.status == "pass")',
  findings: 'findings.open.critical == 0 && findings.open.high == 0 && issues.open.critical == 0',
}
type Rule = keyof typeof RULES
const RULE_NAMES = Object.keys(RULES) as Rule[]

type Act =
  | { kind: 'report'; by: Sender; job: string; passes: boolean }
  | { kind: 'status'; by: Sender; status: 'success' | 'failure' }
  | { kind: 'upload'; by: Sender; rules: string[]; tool: string }
  | { kind: 'vex'; by: Sender }
  | { kind: 'dismiss'; of: Sender; rule: string }
  | { kind: 'end'; of: Sender }
  | { kind: 'gates' }
type Statement = Exclude<Act, { kind: 'gates' }>

/** What a rule of a class admits (trust §2). Acts by permission concern what somebody has stated. */
function isAdmitted(act: Act, trust: Class): boolean {
  if (act.kind === 'gates') return true
  const lane = LANES['by' in act ? act.by : act.of]
  const isOfCi = act.kind === 'report' || act.kind === 'status'
  return lane === 'verified' || (lane === 'key' && (trust === 'any' || (trust === 'uploaded' && !isOfCi)))
}

/** What happens to a repository, and the class of the rules that its gates ask. */
type History = { seed: number; trust: Class; acts: Act[] }

/** A history in which at least one weaker lane speaks: without one there is nothing to compare. */
function makeHistory(seed: number): History {
  const random = new SeededRandom(seed)
  const trust = random.pick(CLASSES)
  for (;;) {
    const acts = Array.from({ length: 3 + random.below(ACTS_MAX - 2) }, () => makeAct(random))
    acts.splice(random.below(acts.length + 1), 0, { kind: 'gates' })
    if (!acts.every((act) => isAdmitted(act, trust))) return { seed, trust, acts }
  }
}

const LODASH = 'pkg:npm/lodash@4.17.20'
const CVE = 'CVE-2021-23337'
const FOUND = ['a', 'b', CVE]

function makeAct(random: SeededRandom): Act {
  // A half is what the repository's own jobs say, so that there is something to silence.
  const by = random.below(2) === 0 ? 'job' : random.pick(SENDERS)
  const rules = FOUND.filter(() => random.below(3) === 0)
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return { kind: 'report', by, job: random.pick(['test', 'lint']), passes: random.below(3) > 0 }
    case 3:
    case 4:
    case 5:
      return { kind: 'upload', by, rules, tool: random.pick(['Linter', 'grype']) }
    case 6:
      return { kind: 'vex', by: random.pick(['other_ref', 'key', 'developer', 'stranger']) }
    case 7:
      return random.below(2) === 0 ? { kind: 'end', of: by } : { kind: 'dismiss', of: by, rule: random.pick(FOUND) }
    default:
      return { kind: 'status', by, status: random.pick(['success', 'failure']) }
  }
}

/** Lets gates of each rule and class guard environments of their names. */
async function startWorld(api: TestApi): Promise<TrustWorld> {
  const world = await TrustWorld.start(api)
  for (const trust of CLASSES)
    for (const rule of RULE_NAMES) {
      const name = `${rule}-${trust}`
      await configureGate(api, world.caller, { name, environment: name, policies: [name], allowApiKeys: false })
      const file = `name: ${name}\nmode: enforce\nbindings: { environments: ['${name}'] }\nrules:\n`
      const terms = `    expression: '${RULES[rule]}'\n    trust: ${trust}\n`
      await apply(api, world.caller, `${file}  - rule: ${rule}\n${terms}`)
    }
  return world
}

type Play = History & { shop: Shop; gates: Partial<Record<Rule, string>> }

/**
 * Plays histories beside each other, each with a repository of its own: the first acts of all, then
 * the second ones. Returns which gates are open at the end.
 */
async function playAll(world: TrustWorld, histories: History[]): Promise<Record<Rule, boolean>[]> {
  const plays = await Promise.all(
    histories.map(async (history): Promise<Play> => ({ ...history, shop: await world.openShop(), gates: {} })),
  )
  const length = Math.max(0, ...histories.map(({ acts }) => acts.length))
  for (let mark = 0; mark < length; mark += 1) {
    world.api.clock.advance(1000)
    await Promise.all(plays.map((play) => playAct(world, play, mark)))
    // What is shown of a repository's compliance decides nothing.
    await drainQueue(world.api, 'compliance.evaluate-repository')
  }
  // Gates of earlier histories that still wait would be asked again and again.
  await clearJobs(world.api.services.sql)
  return Promise.all(
    plays.map(async ({ gates }) => ({
      tests: await isOpen(world, gates.tests),
      findings: await isOpen(world, gates.findings),
    })),
  )
}

async function playAct(world: TrustWorld, play: Play, mark: number): Promise<void> {
  const act = play.acts[mark]
  if (act?.kind === 'gates') play.gates = await openGates(world, play.shop, play.trust)
  else if (act !== undefined) await perform(world, play.shop, act, mark)
}

async function openGates(world: TrustWorld, shop: Shop, trust: Class): Promise<Partial<Record<Rule, string>>> {
  const opened: Partial<Record<Rule, string>> = {}
  for (const rule of RULE_NAMES) {
    const body = { run_id: shop.runId, environment: `${rule}-${trust}` }
    const answer = await world.send(shop, 'job', 'POST', '/v1/ci/gates', body)
    // A run that has ended opens no gate.
    if (answer.status === 201) opened[rule] = answer.body.data.deployment_id
  }
  return opened
}

async function isOpen({ api, caller }: TrustWorld, deploymentId: string | undefined): Promise<boolean> {
  if (deploymentId === undefined) return false
  const { body } = await api.request('GET', `/v1/deployments/${deploymentId}`, { key: caller.key })
  return body.data.status === 'approved'
}

async function perform(world: TrustWorld, shop: Shop, act: Statement, mark: number): Promise<unknown> {
  const run = `/v1/ci/runs/${shop.runId}`
  switch (act.kind) {
    case 'report': {
      const tests = { ...TESTS, data: { ...TESTS.data, failed: act.passes ? 0 : 1 } }
      const body = { job: { name: act.job }, attestations: [tests] }
      return world.send(shop, act.by, 'POST', `${run}/reports`, body)
    }
    case 'status':
      return world.send(shop, act.by, 'PATCH', run, { status: act.status })
    case 'upload':
      return world.upload(shop, act.by, toReport(act, mark))
    case 'vex':
      return world.upload(shop, act.by, openVex([notAffected(CVE, [LODASH])]))
    case 'dismiss':
      return dismiss(world, shop, act)
    case 'end':
      return endStreams(world, shop, act)
  }
}

async function dismiss(world: TrustWorld, shop: Shop, { of, rule }: Extract<Act, { kind: 'dismiss' }>): Promise<void> {
  const lane = LANES[of]
  const found = lane === null ? [] : await world.findingsOf(shop, lane)
  const finding_ids = found.filter(({ rule_id }) => rule_id === rule).map(({ id }) => id)
  const body = { action: 'dismiss', finding_ids, reason: 'wont_fix' }
  if (finding_ids.length > 0) await world.send(shop, 'security', 'POST', '/v1/security/triage', body)
}

async function endStreams(world: TrustWorld, shop: Shop, { of }: Extract<Act, { kind: 'end' }>): Promise<void> {
  const path = `/v1/security/streams?repository=${shop.repository}`
  const { body } = await world.api.request('GET', path, { key: world.caller.key })
  for (const { id } of (body.data as Json[]).filter((each) => isOf(of, each)))
    await world.send(shop, 'security', 'POST', `/v1/security/streams/${id}/end`, { reason: 'Moved.' })
}

const SHOWN: Record<Lane, string> = { verified: 'verified', key: 'uploaded', person: 'ui', untrusted: 'untrusted' }

function isOf(sender: Sender, { trust }: Json): boolean {
  const lane = LANES[sender]
  return lane !== null && trust === SHOWN[lane]
}

function toReport({ rules, tool }: Extract<Act, { kind: 'upload' }>, mark: number): object {
  if (tool === 'grype') return { ...vulnerable(rules.length > 0 ? { [LODASH]: CVE } : {}), version: mark + 1 }
  return sarif(
    rules.map((rule) => scoredResult(rule, 9.8)),
    tool,
    { marks: [mark] },
  )
}

let api: TestApi
let worlds: TrustWorld[] = []

async function closeWorlds(): Promise<void> {
  for (const world of worlds) await world.close()
  worlds = []
}

before(async () => {
  api = await startTestApi()
})
after(async () => {
  await closeWorlds()
  await api?.close()
})

test('what a rule sees is never better with the statements of weaker lanes than without them', async (t) => {
  let opened = 0
  for (let first = 0; first < HISTORIES; first += BATCH) {
    // New organizations, because the tables of the old ones have grown.
    if (first % WORLD_HISTORIES === 0) {
      await closeWorlds()
      worlds = [await startWorld(api), await startWorld(api)]
    }
    const [all, admitted] = worlds as [TrustWorld, TrustWorld]
    const length = Math.min(BATCH, HISTORIES - first)
    const histories = Array.from({ length }, (_, index) => makeHistory(SEED + first + index))
    const seen = (await playAll(all, histories)).map((gates, index) => ({ gates, of: histories[index] as History }))
    // A gate that stays closed is not better than without the weaker lanes.
    const open = seen.filter(({ gates }) => RULE_NAMES.some((rule) => gates[rule]))
    const without = await playAll(
      admitted,
      open.map(({ of }) => ({ ...of, acts: of.acts.filter((act) => isAdmitted(act, of.trust)) })),
    )
    for (const [index, { gates, of }] of open.entries())
      for (const rule of RULE_NAMES.filter((each) => gates[each])) {
        const history = `seed ${of.seed}, trust: ${of.trust}, ${rule}: ${JSON.stringify(of.acts)}`
        assert.ok(without[index]?.[rule], `only the statements of weaker lanes open the gate: ${history}`)
        opened += 1
      }
    if (first % 200 < BATCH) t.diagnostic(`seeds ${SEED} to ${SEED + first + length - 1} hold`)
  }
  const closed = RULE_NAMES.length * HISTORIES - opened
  t.diagnostic(`${HISTORIES} histories from seed ${SEED}: ${opened} gates open, ${closed} closed`)
  assert.ok(opened > 0 && closed > 0, 'the histories show nothing')
})
