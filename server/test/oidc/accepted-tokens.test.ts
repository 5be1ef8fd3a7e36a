import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import {
  azureClaims,
  bitbucketClaims,
  createTrust,
  githubClaims,
  gitlabClaims,
  type Issuer,
  startIssuer,
} from '../support/oidc-issuer.ts'

let api: TestApi
let issuer: Issuer

before(async () => {
  api = await startTestApi()
  issuer = await startIssuer()
})
after(async () => {
  await issuer?.close()
  await api?.close()
})

const REPOSITORIES = {
  github: 'github.com/acme/shop',
  gitlab: 'gitlab.com/acme/shop',
  bitbucket: 'bitbucket.org/acme/shop',
  azure: 'dev.azure.com/acme/web/shop',
}
const CLAIMS = { github: githubClaims, gitlab: gitlabClaims, bitbucket: bitbucketClaims, azure: azureClaims }

for (const provider of ['github', 'gitlab', 'bitbucket', 'azure'] as const) {
  for (const alg of ['RS256', 'ES256', 'PS256']) {
    test(`201 for a token of a ${provider} job, signed with ${alg}`, async () => {
      const { orgId } = await api.caller()
      const own = await startIssuer({ path: '/of/a/server' })
      try {
        await createTrust(api, orgId, { issuer: own.url, provider })
        const key = await own.sign(CLAIMS[provider](api), { alg })
        const body = newRun({ repository: REPOSITORIES[provider] })
        const { status, text } = await api.request('POST', '/v1/ci/runs', { key, body })
        assert.equal(status, 201, text)
      } finally {
        await own.close()
      }
    })
  }
}
