import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SeededRandom } from '../../../../../src/platform/seeded-random.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const RULES = ['a', 'b', 'c', 'd']
const STEPS = 40

type State = 'open' | 'fixed' | 'dismissed'
type Decided = { id: string; action: 'dismiss' | 'reopen'; rules: string[] }

/** What reports say of each finding, and the triages that have not been undone, oldest first. */
class Model {
  readonly reported = new Map<string, State>(RULES.map((rule) => [rule, 'open']))
  triages: Decided[] = []

  stateOf(rule: string): State {
    const reported = this.reported.get(rule) as State
    const decisive = this.triages.findLast(({ rules }) => rules.includes(rule))
    if (decisive === undefined) return reported
    if (decisive.action === 'dismiss') return 'dismissed'
    return reported === 'dismissed' ? 'open' : reported
  }

  isDismissedHere(rule: string): boolean {
    return this.triages.findLast(({ rules }) => rules.includes(rule))?.action === 'dismiss'
  }

  canTriage(action: Decided['action'], rule: string): boolean {
    if (action === 'reopen') return this.stateOf(rule) === 'dismissed'
    return this.stateOf(rule) !== 'fixed' && !this.isDismissedHere(rule)
  }

  isTopmost({ rules }: Decided, position: number): boolean {
    return !this.triages.slice(position + 1).some((later) => later.rules.some((rule) => rules.includes(rule)))
  }
}

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

let reports = 0
async function report(model: Model): Promise<void> {
  api.clock.advance(1000)
  const results = RULES.flatMap((rule, index) => {
    const state = model.reported.get(rule)
    const suppressions = state === 'dismissed' ? { suppressions: [{ kind: 'external' }] } : {}
    return state === 'fixed' ? [] : sarifResult(rule, 1 + index * 50, suppressions)
  })
  const marks = { automationDetails: { guid: `${++reports}` } }
  const upload = await uploadReport(api, caller, sarif(results, 'Linter', marks))
  assert.equal(upload.status, 'finished', upload.error)
}

for (const seed of [1, 2, 3, 4])
  test(`reports, dismissals, reopenings and undos in any order show the state of a simple model (seed ${seed})`, async () => {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    const random = new SeededRandom(seed)
    const model = new Model()
    await report(model)
    const ids = new Map((await listFindings(api, caller)).map(({ rule_id, id }: Json) => [rule_id, id]))
    for (let step = 0; step < STEPS; step += 1) {
      const done = await [reportAtRandom, triageAtRandom, triageAtRandom, undoAtRandom][random.below(4)]?.(
        model,
        random,
        ids,
      )
      const shown = new Map((await listFindings(api, caller)).map(({ rule_id, state }: Json) => [rule_id, state]))
      for (const rule of RULES) assert.equal(shown.get(rule), model.stateOf(rule), `step ${step}: ${done}, ${rule}`)
    }
  })

async function reportAtRandom(model: Model, random: SeededRandom): Promise<string> {
  for (const rule of RULES) model.reported.set(rule, random.pick(['open', 'fixed', 'dismissed']))
  await report(model)
  return 'report'
}

async function triageAtRandom(model: Model, random: SeededRandom, ids: Map<string, string>): Promise<string> {
  const action = random.pick(['dismiss', 'reopen'] as const)
  const rules = RULES.filter(() => random.below(2) === 0)
  if (rules.length === 0) return 'nothing'
  const reason = action === 'dismiss' ? { reason: 'wont_fix' } : {}
  const body = { action, finding_ids: rules.map((rule) => ids.get(rule)), ...reason }
  const answer = await requestAs(api, ada, 'POST', '/security/triage', body)
  const isPossible = rules.every((rule) => model.canTriage(action, rule))
  assert.equal(answer.status, isPossible ? 201 : 409, answer.text)
  if (isPossible) model.triages.push({ id: answer.body.data.id, action, rules })
  return `${action} ${rules}`
}

async function undoAtRandom(model: Model, random: SeededRandom): Promise<string> {
  if (model.triages.length === 0) return 'nothing'
  const position = random.below(model.triages.length)
  const triage = model.triages[position] as Decided
  const answer = await requestAs(api, ada, 'POST', `/security/triage/${triage.id}/undo`)
  const isPossible = model.isTopmost(triage, position)
  assert.equal(answer.status, isPossible ? 200 : 409, answer.text)
  if (isPossible) model.triages.splice(position, 1)
  return `undo ${triage.action} ${triage.rules}`
}
