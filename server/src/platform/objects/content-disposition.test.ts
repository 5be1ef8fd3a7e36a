import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { attachmentDisposition } from './content-disposition.ts'

test('a plain name is given twice, quoted and in UTF-8', () => {
  assert.equal(
    attachmentDisposition('report.sarif'),
    `attachment; filename="report.sarif"; filename*=UTF-8''report.sarif`,
  )
})

test('letters outside ASCII survive in the UTF-8 form', () => {
  assert.equal(
    attachmentDisposition('Prüfung (1).json'),
    `attachment; filename="Pr_fung (1).json"; filename*=UTF-8''Pr%C3%BCfung%20%281%29.json`,
  )
})

test('only the base name is kept, whichever slash leads to it', () => {
  for (const path of ['../../etc/passwd', 'C:\\Windows\\passwd', '/passwd', 'a/../passwd']) {
    assert.match(attachmentDisposition(path), /^attachment; filename="passwd"; filename\*=UTF-8''passwd$/, path)
  }
})

test('an empty name becomes download', () => {
  for (const name of ['', '/', '..', '. .', '\r\n', 'a/'])
    assert.match(attachmentDisposition(name), /filename="download";/)
})

test('marks that turn the reading direction are dropped, so that an ending cannot hide', () => {
  assert.match(attachmentDisposition('invoice\u202Efdp.exe'), /UTF-8''invoicefdp\.exe$/)
})

test('no name breaks out of its quotes or out of the header', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"; x="', 'a\r\nb: c', '\ud800', '\\"')),
      (name) => {
        const value = attachmentDisposition(name)
        validateHeaderValue('content-disposition', value)
        assert.match(value, /^attachment; filename="[^"\\]+"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/)
      },
    ),
  )
})
