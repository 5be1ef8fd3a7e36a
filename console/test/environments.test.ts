import { after, before, test } from 'node:test'
import { openGate } from '../../server/test/support/gates.ts'
import type { Person } from '../../server/test/support/people.ts'
import { assertCount, startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole
let manager: Person
let environments: string

before(async () => {
  shown = await startTestConsole()
  manager = await shown.person({ role: 'release_manager', name: 'Barbara Liskov' })
  environments = `/orgs/${shown.caller.slug}/settings/environments`
})
after(() => shown?.close())

test('environments are added, ordered, changed and deleted, and deployments show their exposure', async () => {
  const page = await shown.open(manager, environments)
  const add = async (environment: string, exposure: string) => {
    await page.getByRole('button', { name: 'Add environments' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Environment').fill(environment)
    await dialog.getByLabel('Exposure').selectOption(exposure)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(`Stored what is stated about ${environment}.`).waitFor()
  }
  await page.getByText('Nothing is stated about environments').waitFor()
  await page.getByRole('button', { name: 'Add environments' }).first().click()
  await page.getByRole('dialog').getByLabel('Environment').fill('prod*')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('State at least one of the three.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await add('prod*', 'Internal network')
  await add('production', 'Internet')

  const { deployment_id } = await openGate(shown.api, shown.caller)
  const deployment = await shown.open(manager, `/orgs/${shown.caller.slug}/deployments/${deployment_id}`)
  await deployment.getByText('Internal network').waitFor()
  await page.getByRole('button', { name: 'Move up: production' }).click()
  await deployment.getByText('Internet', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Change: production' }).click()
  await page.getByRole('dialog').getByLabel('Production').selectOption('Yes')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Internet, Production').waitFor()
  await page.getByRole('button', { name: 'Delete: production' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Deleted what was stated about production.').waitFor()
  await assertCount(page.getByText('Internet, Production'), 0)
  await page.context().close()
  await deployment.context().close()
})
