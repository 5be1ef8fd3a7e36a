import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatReach } from './scopes.ts'

test('a key says what it may report, close and answer, and about which repositories', () => {
  const scopes = ['read:security', 'write:ci', 'write:security-findings', 'write:deployments']
  const reach = formatReach({ speaks_as: 'api_key', scopes, repositories: ['acme/*'] })
  assert.deepEqual(reach.split('; '), [
    'may report runs and evidence about acme/*, as an API key',
    'may open gates',
    'may add security reports about acme/*, as an API key',
    'may close findings of earlier reports sent as an API key, and of no others',
    'may answer gates of acme/* that let API keys in',
    'answers no gate that was opened through the API, because it opens gates itself',
  ])
  assert.match(formatReach({ speaks_as: 'api_key', scopes: ['write:triage'], repositories: null }), /all repositories/)
  assert.equal(formatReach({ speaks_as: 'api_key', scopes: ['read:security'], repositories: null }), 'may only read')
})

test('a job speaks about its run, and about others of its repository as a key unless strangers may have changed its code', () => {
  const speak = (speaks_as: 'job' | 'untrusted') => formatReach({ speaks_as, scopes: ['write:ci'], repositories: null })
  assert.match(speak('job'), /about its run, and others of its repository as an API key, as verified/)
  assert.match(speak('untrusted'), /about its run only, as untrusted/)
})
