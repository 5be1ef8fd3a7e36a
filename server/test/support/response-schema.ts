import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { TestApi } from './api.ts'

type Checker = (path: string, status: string, body: unknown) => void

/** Checks bodies against the served description, as a client that was generated from it would. */
export async function responseChecker(api: TestApi, prefix: '/v1' | '/app/api' = '/v1'): Promise<Checker> {
  const document = (await api.request('GET', `${prefix}/openapi.json`)).body
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats, code: { optimize: false } })
  ajv.addSchema(document, 'api')
  return (path, status, body) => {
    const pointer = ['paths', path, 'get', 'responses', status, 'content', 'application/json', 'schema']
    const tokens = pointer.map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')))
    const validate = ajv.getSchema(`api#/${tokens.join('/')}`) ?? assert.fail(`${path} describes no ${status}`)
    assert.ok(validate(body), JSON.stringify(validate.errors))
  }
}
