import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCheck, parseRules } from './environments.ts'

const ada = { id: 'a1', displayName: 'Ada', uniqueName: 'ada' }

test('checks on an environment are rules: approvals, delays, branch control and others', () => {
  const task = (id: number, name: string, displayName: string) => ({
    id,
    type: { name: 'Task Check' },
    settings: { displayName, definitionRef: { name } },
  })
  const approvers = [ada, { displayName: 'Owners', uniqueName: 'vstfs:///x\\y', isContainer: true }]
  const values = [
    { id: 1, type: { name: 'Approval' }, settings: { approvers } },
    task(2, 'InvokeRESTAPI', 'Shiplock'),
    task(3, 'evaluatebranchProtection', 'Branch control'),
    task(4, 'evaluateBusinessHours', 'Office hours'),
    task(5, 'AzureFunction', 'Tests passed'),
    { id: 6, type: { name: 'ExclusiveLock' } },
    { ...task(7, 'AzureFunction', 'Off'), isDisabled: true },
  ]
  const checks = values.flatMap((value) => parseCheck(value) ?? [])
  const own = new Set(checks.filter(({ id }) => id === 2))
  assert.deepEqual(parseRules({ id: 1, name: 'production' }, checks, own), {
    name: 'production',
    rule_types: ['required_reviewers', 'customRule', 'branch_policy', 'wait_timer'],
    reviewers: ['ada'],
    reviewer_teams: ['Owners'],
    custom_rules: [
      { app_id: '2', slug: 'Shiplock', is_own: true },
      { app_id: '5', slug: 'Tests passed', is_own: false },
    ],
  })
})
