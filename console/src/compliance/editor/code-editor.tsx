import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react'
import classes from './code-editor.module.css'
import { offersAt } from './completions.ts'
import { EDITOR_THEME } from './editor-theme.ts'
import type { FileMistake } from './file-mistakes.ts'
import { POLICY_SCHEMA } from './policy-schema.ts'

const WRITING: Extension = [
  ...[history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine()],
  ...[lintGutter(), indentUnit.of('  '), autocompletion({ override: [completePolicy] })],
  keymap.of([...completionKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
]

export type EditorHandle = { goTo: (line: number, column: number) => void }

type CodeEditorProps = {
  label: string
  value: string
  /** Absent: the text can be read and copied only. */
  onChange?: (text: string) => void
  mistakes?: readonly FileMistake[]
  /** The id of the text that describes the editor. */
  describedBy?: string
  handle?: RefObject<EditorHandle | null>
}

/** A YAML file in an editor. Escape and then Tab leaves it by keyboard. */
export default function CodeEditor({ label, value, onChange, mistakes, describedBy, handle }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView | null>(null)
  const report = useRef(onChange)
  report.current = onChange
  const first = useRef(value)
  const isReadOnly = onChange === undefined
  useEffect(() => {
    const attributes = { 'aria-label': label, ...(describedBy && { 'aria-describedby': describedBy }) }
    const view = new EditorView({
      doc: first.current,
      parent: host.current as HTMLElement,
      extensions: [
        ...[EDITOR_THEME, lineNumbers(), yaml(), EditorView.lineWrapping],
        EditorView.contentAttributes.of(attributes),
        isReadOnly ? EditorState.readOnly.of(true) : WRITING,
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) report.current?.(state.doc.toString())
        }),
      ],
    })
    editor.current = view
    return () => {
      first.current = view.state.doc.toString()
      view.destroy()
    }
  }, [label, describedBy, isReadOnly])
  useEffect(() => replaceText(editor.current, value), [value])
  useEffect(() => {
    const view = editor.current
    if (view) view.dispatch(setDiagnostics(view.state, (mistakes ?? []).map(diagnosticIn(view.state))))
  }, [mistakes])
  useImperativeHandle(handle, () => ({ goTo: (line, column) => goTo(editor.current, line, column) }))
  return <div ref={host} className={classes.frame} />
}

function replaceText(view: EditorView | null, text: string): void {
  if (view === null || view.state.doc.toString() === text) return
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
}

function goTo(view: EditorView | null, line: number, column: number): void {
  if (view === null) return
  const anchor = offsetOf(view.state, line, column)
  view.focus()
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
}

function offsetOf({ doc }: EditorState, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(from + column - 1, to)
}

function diagnosticIn(state: EditorState): (mistake: FileMistake) => Diagnostic {
  return ({ line, column, path, message }) => {
    const from = offsetOf(state, line, column)
    const { to } = state.doc.lineAt(from)
    return { from, to: Math.max(from, to), severity: 'error', message: path === '' ? message : `${path}: ${message}` }
  }
}

/** Completes fields and values of policy files, with their descriptions. */
function completePolicy({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const found = offersAt(POLICY_SCHEMA, state.doc.toString(), pos)
  if (found === null || found.offers.length === 0 || (found.word === '' && !explicit)) return null
  return {
    from: pos - found.word.length,
    validFor: /^[\w*'-]*$/,
    options: found.offers.map(({ label, detail, info, insert }) => ({ label, detail, info, apply: insert })),
  }
}
