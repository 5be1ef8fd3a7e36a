import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { applyAlerts, codeAlert, connect, secretAlert } from '../../server/test/support/host-alerts.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { LOG4SHELL, reportProblems } from './support/security.ts'

let shown: TestConsole
let ada: Person
let security: string

before(async () => {
  shown = await startTestConsole()
  const { api, caller } = shown
  ada = await shown.person({ role: 'security' })
  security = `/orgs/${caller.slug}/security`
  await reportProblems(api, caller)
  await applyAlerts(api, await connect(api, caller), codeAlert(), secretAlert('secret'))
})
after(() => shown?.close())

const firstOf = async (list: string, has = '') => {
  const { body } = await requestAs(shown.api, ada, 'GET', `/security/${list}`)
  return body.data.find((each: object) => JSON.stringify(each).includes(has))
}

test('a finding shows what its scanner reported, and is dismissed and reopened', async () => {
  const { id } = await firstOf('findings', LOG4SHELL)
  const page = await shown.open(ada, `${security}/findings/${id}`)
  await page
    .getByRole('link', { name: 'NVD' })
    .and(page.locator(`[href*="nvd.nist.gov/vuln/detail/${LOG4SHELL}"]`))
    .waitFor()
  await page.getByRole('link', { name: LOG4SHELL }).and(page.locator('[href*="/vulnerabilities/"]')).waitFor()
  await page.getByText('94.4% within 30 days').waitFor()
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Mitigated' }).check()
  await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await page.getByText('dismissed 1 finding: Mitigated').first().waitFor()
  await page.getByRole('button', { name: 'Reopen', exact: true }).click()
  await page.getByText('reopened 1 finding').first().waitFor()
})

test('the triage history says who decided what, and undoes it', async () => {
  const { id } = await firstOf('findings', 'Weak hash')
  const decision = { action: 'dismiss', reason: 'wont_fix', comment: 'Replaced in May', finding_ids: [id] }
  await requestAs(shown.api, ada, 'POST', '/security/triage', decision)
  const page = await shown.open(ada, `${security}/triage?status=active`)
  const row = page.getByRole('row').filter({ hasText: 'Replaced in May' })
  await row.getByText(ada.name).waitFor()
  await row.getByText('Dismissed 1 finding: Won’t fix').waitFor()
  await row.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor({ state: 'detached' })
  const { body } = await requestAs(shown.api, ada, 'GET', `/security/findings/${id}`)
  assert.equal(body.data.state, 'open')
})

test('findings are filtered by the address, and opened with Enter', async () => {
  const page = await shown.open(ada, `${security}/findings?severity=medium&scanner=CodeQL`)
  await page.getByRole('row').filter({ hasText: 'Weak hash' }).waitFor()
  await assertCount(page.getByRole('row'), 2)
  await page.keyboard.press('j')
  await page.locator('[role=row]:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Weak hash' }).waitFor()
  await page.goBack()
  await page.getByRole('row').filter({ hasText: 'Weak hash' }).waitFor()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`findings, alerts and decisions have no barriers, ${colorScheme}`, async () => {
    const finding = await firstOf('findings', LOG4SHELL)
    const alert = await firstOf('alerts')
    const page = await shown.open(ada, `${security}/findings`, { colorScheme })
    const pages = ['findings', `findings/${finding.id}`, 'alerts', `alerts/${alert.id}`, 'triage']
    for (const path of pages) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`${security}/${path}`)
      await page
        .getByRole('table')
        .or(page.getByRole('heading', { level: 2 }))
        .first()
        .waitFor()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
    }
  })
}
