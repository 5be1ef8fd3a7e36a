import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
})
after(() => shown?.close())

const useKey = (key: string, path: string) =>
  fetch(shown.api.url + path, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)

test('a key is created, shown once, used, seen as used, and revoked', async () => {
  const person = await shown.person()
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/settings/api-keys`)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  await dialog.getByText('Choose at least one scope.').waitFor()
  assert.equal(await page.evaluate('document.activeElement.dataset.path'), 'name')
  await dialog.getByLabel('Name').fill('Grafana')
  await dialog.getByLabel('read:pipelines').check()
  await dialog.getByRole('button', { name: 'Create API key' }).click()
  const key = await dialog.getByLabel('API key').inputValue()
  await dialog.getByText('curl').waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Done' }).click()
  assert.equal(await useKey(key, '/v1/runs'), 200)
  assert.equal(await useKey(key, '/v1/security/issues'), 403)
  await page.reload()
  const row = page.getByRole('row').filter({ hasText: 'Grafana' })
  await row.getByText('just now').last().waitFor()
  assert.ok(!(await page.content()).includes(key))

  await page.getByRole('button', { name: 'Revoke Grafana' }).click()
  await dialog.getByLabel('Reason').fill('The dashboard is gone.')
  await dialog.getByRole('button', { name: 'Revoke key' }).click()
  await row.getByText('Revoked').waitFor()
  assert.equal(await useKey(key, '/v1/runs'), 401)
  await page.context().close()
})

test('a scope that the person lacks cannot be chosen, and the page says why', async () => {
  const person = await shown.person({ permissions: ['view', 'manage_integrations'] })
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/settings/api-keys`)
  await page.getByRole('button', { name: 'Create API key' }).first().click()
  const dialog = page.getByRole('dialog')
  assert.ok(await dialog.getByLabel('write:compliance-override').isDisabled())
  await dialog.getByText('it needs the permission “Override compliance”').waitFor()
  await page.context().close()
})
