import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostRepository } from '../../host-repository.ts'
import { parseAlert } from './alerts.ts'

const PROJECT = 'be9b3917-87e6-42a4-a549-2bc06a7a878f'
const REPOSITORY_ID = '278d5cd2-584d-4b63-824a-2ba458937249'
const repository: HostRepository = {
  provider: 'azure',
  host: 'dev.azure.com',
  id: REPOSITORY_ID,
  full_name: 'acme/shop/shop',
  owner_id: PROJECT,
  default_branch: 'main',
  html_url: 'https://dev.azure.com/acme/shop/_git/shop',
  private: true,
  archived: false,
  updated_at: null,
}

const alert = {
  alertId: 41,
  alertType: 'secret',
  state: 'dismissed',
  title: 'Azure storage key',
  firstSeenDate: '2026-03-01T10:00:00Z',
  truncatedSecret: 'abc...xyz',
  dismissal: { dismissalType: 'fixed', message: 'Rotated' },
}

test('a secret that was dismissed as fixed is fixed; no part of its value is read', () => {
  const at = new Date('2026-03-02T10:00:00Z')
  const read = parseAlert(alert, repository, at)
  assert.deepEqual(
    [read?.type, read?.status, read?.severity, read?.updated_at],
    ['secret_scanning', 'fixed', 'critical', at],
  )
  assert.ok(!JSON.stringify(read).includes('abc'))
  const code = parseAlert({ ...alert, alertType: 'code', severity: 'warning' }, repository, at)
  assert.deepEqual([code?.status, code?.dismissal?.reason, code?.severity], ['dismissed', 'fixed', 'medium'])
  assert.equal(parseAlert({ ...alert, alertType: 'license' }, repository, at), null)
})
