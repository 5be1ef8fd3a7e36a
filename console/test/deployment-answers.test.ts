import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { upsertPassword } from '../../server/src/access/sign-in/account.store.ts'
import { hashPassword } from '../../server/src/access/sign-in/password.ts'
import { MINUTE_MS } from '../../server/src/platform/clock.ts'
import { PASSWORD } from '../../server/test/support/accounts.ts'
import { configureGate, getDeployment } from '../../server/test/support/gates.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { apply } from '../../server/test/support/policies.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { BLOCKING, openDeployment } from './support/deployments.ts'

const REASON = 'The fix for the outage cannot wait for the tests.'

let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
  const { api, caller } = shown
  for (const environment of ['production', 'locked'])
    await configureGate(api, caller, { name: environment, environment })
  await configureGate(api, caller, { name: 'Two people', environment: 'shared', requiredApprovals: 2 })
  await apply(api, caller, BLOCKING)
})
after(() => shown?.close())

async function openPage(person: Person, id: string): Promise<Page> {
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/deployments/${id}`)
  await page.getByRole('heading', { name: 'Gates' }).waitFor()
  return page
}

/** The requests that answer deployments, as the page sends them. */
function answersOf(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (/\/(?:approve|reject)$/.test(request.url())) sent.push(request.url())
  })
  return sent
}

const stored = (id: string) => getDeployment(shown.api, shown.caller, id)

test('approve with a fresh sign-in: the dialog shows what will be recorded, and the answer is sent again', async () => {
  const { api } = shown
  const ada = await shown.person({ role: 'release_manager' })
  await upsertPassword(api.services.sql, ada.userId, await hashPassword(PASSWORD, ada.userId), api.clock.now())
  const id = await openDeployment(shown, 'production')
  api.clock.advance(16 * MINUTE_MS)
  const page = await openPage(ada, id)
  await page.getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog', { name: 'Approve deployment' })
  for (const text of ['This will be recorded', 'Ada Lovelace', ada.email, 'acme/api to production', 'aaaaaaa'])
    await dialog.getByText(text).first().waitFor()
  await assertAccessible(page)
  await dialog.getByLabel('Comment').fill('Looks good.')
  await dialog.getByRole('button', { name: 'Approve' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Confirm it is you' })
  await confirmation.getByLabel('Password').fill('wrong')
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await confirmation.getByRole('alert').waitFor()
  await confirmation.getByLabel('Password').fill(PASSWORD)
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Approved by Ada Lovelace').first().waitFor()
  await dialog.waitFor({ state: 'detached' })
  const { approvals } = await stored(id)
  assert.deepEqual(
    approvals.map(({ user_id, decision, note }: Record<string, string>) => [user_id, decision, note]),
    [[ada.userId, 'approved', 'Looks good.']],
  )
  await assertCount(page.getByRole('button', { name: 'Approve' }), 0)
})

test('who does not confirm who they are records nothing, and keeps what they wrote', async () => {
  const ada = await shown.person({ role: 'release_manager' })
  const id = await openDeployment(shown, 'production')
  shown.api.clock.advance(16 * MINUTE_MS)
  const page = await openPage(ada, id)
  await page.getByRole('button', { name: 'Reject' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reject deployment' })
  await dialog.getByLabel('Comment').fill('Not on a Friday.')
  await dialog.getByRole('button', { name: 'Reject' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Confirm it is you' })
  // The person has neither a password nor a passkey, and there is no single sign-on.
  await confirmation.getByText('Sign out, and sign in again.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByText('Nothing was recorded').waitFor()
  assert.equal(await dialog.getByLabel('Comment').inputValue(), 'Not on a Friday.')
  assert.deepEqual((await stored(id)).approvals, [])
})

test('the role Security overrides with a reason and a second person, and a double click sends it once', async () => {
  const grace = await shown.person({ role: 'security', name: 'Grace Hopper' })
  const id = await openDeployment(shown, 'locked')
  const page = await openPage(grace, id)
  const sent = answersOf(page)
  await page.getByText('Blocked by policy').first().waitFor()
  await page.getByText('No test results were reported for this run.').waitFor()
  await page.getByText('attestations.exists(a, a.kind == "test-results" && a.status == "pass")').waitFor()
  await page.getByText('To reject, you need the permission “Answer deployment gates”', { exact: false }).waitFor()
  await assertCount(page.getByRole('button', { name: 'Reject' }), 0)
  await page.getByText('A second person, with the permission “Answer deployment gates”', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Override' }).click()
  const dialog = page.getByRole('dialog', { name: 'Override policies and approve' })
  await dialog.getByText('Tests have passed').waitFor()
  const submit = dialog.getByRole('button', { name: 'Override and approve' })
  await dialog.getByLabel('Reason').fill('Too short')
  await submit.click()
  await dialog.getByText('Write at least 10 characters.').waitFor()
  assert.deepEqual(sent, [])
  await dialog.getByLabel('Reason').fill(REASON)
  await dialog.getByText(`${REASON.length} of 10 to 500 characters`, { exact: false }).waitFor()
  await assertAccessible(page)
  await submit.dblclick()
  await page.getByText('You have already answered this deployment', { exact: false }).first().waitFor()
  assert.equal(sent.length, 1)
  const waiting = await stored(id)
  assert.deepEqual([waiting.status, waiting.override, waiting.approvals.length], ['pending_approval', null, 1])
  const manager = await shown.person({ role: 'release_manager', name: 'Barbara Liskov' })
  await requestAs(shown.api, manager, 'POST', `/deployments/${id}/approve`, { reason: REASON })
  await page.getByText('Policies overridden').first().waitFor()
  const { override } = await stored(id)
  assert.deepEqual([override.display_name, override.with], ['Barbara Liskov', ['Grace Hopper']])
})

test('reject by keyboard alone; the focus goes to the new state', async () => {
  const ada = await shown.person({ role: 'release_manager' })
  const id = await openDeployment(shown, 'production')
  const page = await openPage(ada, id)
  await page.keyboard.press('?')
  const overview = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  for (const label of ['Approve', 'Reject']) await overview.getByText(label, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await overview.waitFor({ state: 'detached' })
  await page.keyboard.press('a')
  await page.getByRole('dialog', { name: 'Approve deployment' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog', { name: 'Reject deployment' })
  await dialog.getByText('A single rejection is final.', { exact: false }).waitFor()
  await dialog.getByRole('button', { name: 'Reject' }).press('Enter')
  await page.getByText('Rejected by Ada Lovelace').first().waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'status')
  assert.equal((await stored(id)).status, 'rejected')
})

test('two people approve in two browsers, and each sees what the other did', async () => {
  const ada = await shown.person({ role: 'release_manager' })
  const grace = await shown.person({ role: 'release_manager', name: 'Grace Hopper' })
  const id = await openDeployment(shown, 'shared')
  const [first, second] = [await openPage(ada, id), await openPage(grace, id)]
  await second.getByText('0 of 2 approvals').waitFor()
  const approve = async (page: Page) => {
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  }
  await approve(first)
  await first.getByText('It needs other approvals, too.', { exact: false }).waitFor()
  await first.getByText('You have already answered this deployment', { exact: false }).waitFor()
  await second.getByText('1 of 2 approvals').waitFor()
  await approve(second)
  await first.getByText('Approved by Grace Hopper').first().waitFor()
  assert.equal((await stored(id)).approvals.length, 2)
})

test('somebody answers first: the dialog says so, and what holds now', async () => {
  const ada = await shown.person({ role: 'release_manager' })
  const grace = await shown.person({ role: 'release_manager', name: 'Grace Hopper' })
  const id = await openDeployment(shown, 'production')
  const page = await openPage(ada, id)
  await page.getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Approve' }).waitFor()
  assert.equal((await requestAs(shown.api, grace, 'POST', `/deployments/${id}/reject`)).status, 200)
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await dialog.getByText('The deployment was answered already').waitFor()
  await dialog.getByText('Rejected by Grace Hopper').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
})

test('a role without the permission has no buttons, and reads who can give it', async () => {
  const viewer = await shown.person({ role: 'viewer' })
  const page = await openPage(viewer, await openDeployment(shown, 'production'))
  await page.getByText('To approve, you need the permission “Answer deployment gates”', { exact: false }).waitFor()
  for (const name of ['Approve', 'Reject', 'Override']) await assertCount(page.getByRole('button', { name }), 0)
  await page.keyboard.press('a')
  await assertCount(page.getByRole('dialog'), 0)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
})

test('by keyboard on a phone: each dialog begins at its field, has no barrier, and the decision has the focus', async () => {
  const ada = await shown.person({ role: 'release_manager' })
  const id = await openDeployment(shown, 'production')
  const page = await openPage(ada, id)
  await page.setViewportSize({ width: 360, height: 740 })
  for (const [act, title] of [
    ['Reject', 'Reject deployment'],
    ['Approve', 'Approve deployment'],
  ]) {
    await page.getByRole('button', { name: act, exact: true }).press('Enter')
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.locator('textarea:focus').waitFor()
    assert.equal(await dialog.getByLabel('Comment').evaluate((field) => field === document.activeElement), true)
    await assertAccessible(page)
    if (act === 'Reject') await page.keyboard.press('Escape')
    else await dialog.getByRole('button', { name: 'Approve', exact: true }).press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }
  await page.locator('[role=status]:focus').getByText('Approved').waitFor()
})
