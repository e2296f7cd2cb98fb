"""Gate `view`: pages in a headless Chromium."""
import base64

import models
from browser import Browser
from page import GPT, MLP_TRAIN, TRAIN
from tools import expect, test

open_browsers = []
# The contrast of a text and its background, as WCAG 2 defines it.
CONTRAST = '''
(function () {
  function light(color) {
    var parts = color.match(/[\\d.]+/g).slice(0, 3).map(function (c) {
      c /= 255;
      return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }
  var worst = [99, ''];
  document.querySelectorAll('h1,h2,h3,p,a,td,th,caption,small,dt,dd,figcaption,li,button,.who,.axis span,.rank,.unit b').forEach(function (e) {
    if (!e.getClientRects().length) return;
    var back = e, clear = 'rgba(0, 0, 0, 0)';
    while (back.parentElement && getComputedStyle(back).backgroundColor === clear) back = back.parentElement;
    var a = light(getComputedStyle(e).color), b = light(getComputedStyle(back).backgroundColor);
    var contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < worst[0]) worst = [contrast, e.tagName + ' ' + e.className];
  });
  return worst;
})()'''
# The light of the background, from 0 to 255.
GROUND = 'Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])'
# Bars and curves that have a size on the screen.
VISIBLE = '''Array.from(document.querySelectorAll('.chart rect:not(.lane), .chart path')).filter(function (e) {
  var box = e.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && getComputedStyle(e).fill !== 'rgb(0, 0, 0)';
}).length'''
SHOWN = "document.querySelector('{}').getClientRects().length > 0"


def browser():
    if not open_browsers:
        open_browsers.append(Browser())
    return open_browsers[0]


def close():
    for each in open_browsers:
        each.close()


def make(tools, *flags):
    path = tools.path('page.html')
    tools.good('dpc-compile', *flags, '-o', 'out', '--stop-after=exec', f'--report={path}')
    return path


def pipeline(tools):
    return make(tools, GPT, *TRAIN, '--mesh=pipe=2,data=2', '--microbatches=4')


def looks_right(page, scheme, is_light, **how):
    defects = browser().open(page, scheme=scheme, **how)
    expect(not defects, f'{defects}')
    ground = browser().value(GROUND)
    expect(ground > 200 if is_light else ground < 60, f'the background is {ground}')
    contrast, where = browser().value(CONTRAST)
    expect(contrast >= 4.5, f'{where} has the contrast {contrast}')
    bars = browser().value(VISIBLE)
    expect(bars >= 100, f'{bars} bars are visible')


@test('view')
def in_light_mode(tools):
    looks_right(pipeline(tools), 'light', True)


@test('view')
def in_dark_mode(tools):
    looks_right(pipeline(tools), 'dark', False)


@test('view')
def printed(tools):
    page = pipeline(tools)
    looks_right(page, 'dark', True, media='print', width=720)  # paper is white
    expect(not browser().value(SHOWN.format('nav')) and not browser().value(SHOWN.format('.zoom')), 'paper has buttons')
    cut = browser().value('''Array.from(document.querySelectorAll('.wide')).filter(function (e) {
        return getComputedStyle(e).overflowX !== 'visible' || e.scrollWidth > 720; }).length''')
    expect(cut == 0, f'{cut} tables are cut off')
    paper = base64.b64decode(browser().call('Page.printToPDF', printBackground=True)['data'])
    expect(paper.startswith(b'%PDF-') and len(paper) > 20000, f'a PDF file of {len(paper)} bytes')


@test('view')
def with_360_pixels(tools):
    for flags in ([GPT, *TRAIN, '--mesh=pipe=2,data=2', '--microbatches=4'], [*MLP_TRAIN, '--mesh=data=64']):
        defects = browser().open(make(tools, *flags), width=360)
        expect(not defects, f'{defects}')
        wide = browser().value('document.scrollingElement.scrollWidth')
        expect(wide <= 360, f'the page is {wide} pixels wide')
        tables = browser().value("Array.from(document.querySelectorAll('.wide')).map(function (e) { return [e.clientWidth, e.scrollWidth]; })")
        expect(all(own <= 360 for own, _ in tables) and any(inside > own for own, inside in tables), f'tables: {tables}')
        chart = browser().value("document.querySelector('.chart').getBoundingClientRect().width")
        expect(chart > 300, f'a chart is {chart} pixels wide')
        contrast, where = browser().value(CONTRAST)
        expect(contrast >= 4.5, f'{where} has the contrast {contrast}')


@test('view')
def without_scripts(tools):
    page = pipeline(tools)
    looks_right(page, 'light', True, scripts=False)
    expect(not browser().value(SHOWN.format('.zoom')), 'buttons without a script')
    expect(browser().value("document.querySelectorAll('.axis span').length") >= 4, 'the axis has no times')


@test('view')
def zooms(tools):
    browser().open(pipeline(tools))
    expect(browser().value(SHOWN.format('.zoom')), 'no buttons')
    boxes = "Array.from(document.querySelectorAll('.chart')).map(function (e) { return e.getAttribute('viewBox'); })"
    click = "document.querySelector('[data-zoom={}]').click()"
    first = browser().value(boxes)
    times = browser().value("document.querySelector('.axis').textContent")
    browser().value(click.format('in'))
    zoomed = browser().value(boxes)
    expect(all(box.split()[0] == '2500' and box.split()[2] == '5000' for box in zoomed), f'{zoomed}')
    expect(browser().value("document.querySelector('.axis').textContent") != times, 'the axis has the old times')
    browser().value(click.format('right'))
    expect(browser().value(boxes)[0].startswith('5000 0 5000'), f'{browser().value(boxes)}')
    browser().value(click.format('all'))
    expect(browser().value(boxes) == first, f'{first} and {browser().value(boxes)}')


@test('view')
def names_run_nothing(tools):
    model = models.chain(tools.path('chain.onnx'), 3, name='<script>alert({})</script><img src=x onerror=alert(1)>')
    defects = browser().open(make(tools, model, *TRAIN, '--mesh=model=2'))
    expect(not defects, f'{defects}')
    expect(browser().value("document.querySelectorAll('script').length + document.images.length") == 1, 'names are elements')
    expect(browser().value("document.body.textContent.indexOf('<script>alert(1)</script><img')") > 0, 'the name is not shown')
