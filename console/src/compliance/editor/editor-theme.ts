import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The Content-Security-Policy lets CodeMirror add its styles with the nonce of the page. */
const NONCE = document.querySelector('meta[property=csp-nonce]')?.getAttribute('content') ?? ''

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--shiplock-running)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--shiplock-success)' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.number], color: 'var(--shiplock-chart-4)' },
  { tag: tags.comment, color: 'var(--shiplock-text-dimmed)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--shiplock-text-dimmed)' },
])

const surface = EditorView.theme({
  '&': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', paddingBlock: '8px' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--mantine-primary-color-filled) 25%, transparent)',
  },
  '.cm-gutters': {
    backgroundColor: 'var(--shiplock-surface)',
    color: 'var(--shiplock-text-dimmed)',
    borderRight: '1px solid var(--shiplock-border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--mantine-primary-color-filled) 7%, transparent)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--shiplock-border)',
    borderRadius: '6px',
  },
  '.cm-tooltip.cm-completionInfo': { maxWidth: '22rem', padding: '8px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-filled)',
    color: 'var(--mantine-color-white)',
  },
  '.cm-diagnostic': { padding: '4px 8px' },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine, .cm-insertedLine': {
    backgroundColor: 'color-mix(in srgb, var(--shiplock-success) 8%, transparent)',
  },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-deletedLine': {
    backgroundColor: 'color-mix(in srgb, var(--shiplock-failure) 8%, transparent)',
  },
  '&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText': {
    background: 'color-mix(in srgb, var(--shiplock-success) 15%, transparent)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--shiplock-failure) 15%, transparent)',
  },
  '.cm-collapsedLines': {
    background: 'var(--shiplock-surface)',
    color: 'var(--shiplock-text-dimmed)',
  },
})

/** The look of every editor, in the colours of the theme. */
export const EDITOR_THEME: Extension = [EditorView.cspNonce.of(NONCE), syntaxHighlighting(colors), surface]
