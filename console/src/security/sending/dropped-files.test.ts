import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isReportPath } from './dropped-files.ts'

test('of a folder, reports by their names are sent, without hidden files and folders', () => {
  for (const path of ['zap.sarif', 'a/b/result.JSON', 'bom.cdx.json', 'sbom.spdx', 'doc.jsonld', 'vex.vex'])
    assert.equal(isReportPath(path), true, path)
  for (const path of [
    'notes.txt',
    '.hidden.json',
    'a/.git/x.json',
    'report.xml',
    'report.json.gz',
    'sarif',
    'a.sarif/b',
  ])
    assert.equal(isReportPath(path), false, path)
})
