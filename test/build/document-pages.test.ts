/** Markdown as the pages of the documentation show it. */
import { describe, expect, test } from 'vitest'
import { renderPage } from '../../src/build/document-pages.mjs'

const html = (markdown: string) => renderPage('page', `# Title\n\n${markdown}`).html

describe('a page', () => {
  test('has headings with the anchors that GitHub gives them', () => {
    const { headings, html } = renderPage('page', '# T\n\n## `a`, b & C++\n\n## Same\n\n## Same\n')
    expect(headings.map(({ anchor }) => anchor)).toEqual(['a-b--c', 'same', 'same-1'])
    expect(html).toContain('<h2 id="a-b--c">')
    expect(html).toContain('href="docs/page#same-1"')
  })

  test('links to other pages and to headings as the repository does', () => {
    expect(html('[x](http.md#errors)')).toContain('<a href="docs/http#errors">x</a>')
    expect(html('[x](README.md)')).toContain('<a href="docs">x</a>')
    expect(html('[x](#here)')).toContain('<a href="docs/page#here">x</a>')
    expect(html('[x](https://example.com/a)')).toContain('<a href="https://example.com/a">x</a>')
  })

  test('shows code as it is written', () => {
    expect(html('```sh run\na < b && "c"\n```')).toContain(
      '<code>a &lt; b &amp;&amp; &quot;c&quot;</code>',
    )
    expect(html('`<name>`')).toContain('<code>&lt;name&gt;</code>')
  })

  test('has tables that are scrolled by themselves, without a head where none is written', () => {
    const table = html('| | |\n| - | - |\n| `a\\|b` | c |\n')
    expect(table).toContain('<div class="table" tabindex="0">')
    expect(table).toContain('<td><code>a|b</code></td><td>c</td>')
    expect(table).not.toContain('<thead>')
  })

  test('tells columns that have sentences from those that have names', () => {
    const table = html(
      '| a | b | c |\n| - | - | - |\n| `--flag` | this says more than a name or two does | 1 |\n',
    )
    expect(table).toContain('<th>a</th><th>b</th><th>c</th>')
    expect(table).toContain('<td><code>--flag</code></td><td class="long">this says')
    expect(table).toContain('does</td><td>1</td>')
  })

  test('has no comments and no HTML of its own', () => {
    expect(html('a <!-- hidden --> b\n\n<script>x</script>\n')).not.toMatch(/hidden|script/)
  })

  test('is searched by sections, in plain words', () => {
    const markdown =
      '# T\n\nFirst *words*.\n\n## Part\n\n| a | b |\n| - | - |\n| `c` | [d](x.md) |\n'
    expect(renderPage('page', markdown).sections).toEqual([
      { title: 'T', anchor: '', text: 'First words.' },
      { title: 'Part', anchor: 'part', text: 'a · b; c · d' },
    ])
  })

  test('needs a title', () => {
    expect(() => renderPage('page', 'Words.\n')).toThrow('src/docs: page has no title')
  })
})
