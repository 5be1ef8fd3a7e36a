import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FoundFile } from '../../src/found-file.ts'
import { readJunit } from '../../src/junit.ts'

/**
 * Writes a JUnit file of the given size, most of it the output of one test and one comment, reads it,
 * and prints the figures and by how much the memory has grown.
 */
const directory = mkdtempSync(join(tmpdir(), 'shiplock-junit-'))
const path = join(directory, 'junit.xml')
const size = Number(process.argv[2]) * 1_000_000
try {
  writeLarge()
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const { passed, failed } = await readJunit([FoundFile.at(path) as FoundFile], 'stated', [])
  clearInterval(timer)
  peak = Math.max(peak, process.memoryUsage.rss())
  console.log(JSON.stringify({ passed, failed, megabytes: (peak - before) / 1_000_000 }))
} finally {
  rmSync(directory, { recursive: true })
}

function writeLarge(): void {
  const file = openSync(path, 'w')
  const line = 'a line of output <not> & closed ]] ]> -\n'
  const fill = (start: string, end: string, bytes: number) => {
    writeSync(file, start)
    const block = line.repeat(25_000)
    for (let written = 0; written < bytes; written += block.length) writeSync(file, block)
    writeSync(file, end)
  }
  writeSync(file, '<testsuites><testsuite name="s">')
  for (let part = 0; part < 100; part++) writeSync(file, '<testcase name="a" time="0.001"/>\n'.repeat(1000))
  writeSync(file, '<testcase name="b"><failure message="m"/>')
  fill('<system-out><![CDATA[', ']]></system-out>', size * 0.5)
  fill('<!--', '-->', size * 0.2)
  writeSync(file, '</testcase>')
  fill('<system-err><![CDATA[', ']]></system-err></testsuite></testsuites>', size * 0.3)
  closeSync(file)
}
