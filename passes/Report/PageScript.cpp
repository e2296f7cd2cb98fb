// The script of a report page: it zooms all charts over time together. The page is complete
// without it.

#include "passes/Report/PageStyle.h"

const llvm::StringLiteral dpc::kPageScript = R"js(
(function () {
  'use strict';
  var charts = Array.prototype.slice.call(document.querySelectorAll('.chart'));
  var axes = Array.prototype.slice.call(document.querySelectorAll('.axis'));
  var bar = document.querySelector('.zoom');
  if (!bar || !axes.length) return;
  var seconds = +axes[0].dataset.seconds, begin = 0, end = 1;
  bar.hidden = false;
  function text(s, step) {
    var unit = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, '\u00b5s'];
    var digits = Math.max(0, Math.ceil(-Math.log10(step * unit[0]) + 1e-6));
    return (s * unit[0]).toFixed(Math.min(digits, 6)) + ' ' + unit[1];
  }
  function draw() {
    charts.forEach(function (chart) {
      var box = chart.viewBox.baseVal;
      chart.setAttribute('viewBox', [begin * 10000, 0, (end - begin) * 10000, box.height].join(' '));
    });
    var length = (end - begin) * seconds, step = Math.pow(10, Math.floor(Math.log10(length / 6)));
    [2, 2.5, 2].forEach(function (factor) { if (length / step > 6) step *= factor; });
    axes.forEach(function (axis) {
      axis.textContent = '';
      for (var i = Math.ceil(begin * seconds / step); i * step <= end * seconds; ++i) {
        var tick = document.createElement('span');
        var at = (i * step / seconds - begin) / (end - begin);
        tick.style.left = 100 * at + '%';
        if (at > 0.85) tick.className = 'late';
        tick.textContent = text(i * step, step);
        axis.appendChild(tick);
      }
    });
  }
  function show(from, to) {
    var length = Math.min(1, Math.max(1e-4, to - from));
    begin = Math.min(Math.max(0, from), 1 - length);
    end = begin + length;
    draw();
  }
  function zoom(factor, at) {
    show(at - (at - begin) * factor, at + (end - at) * factor);
  }
  bar.addEventListener('click', function (event) {
    var middle = (begin + end) / 2, part = (end - begin) / 2;
    switch (event.target.dataset.zoom) {
    case 'in': zoom(0.5, middle); break;
    case 'out': zoom(2, middle); break;
    case 'left': show(begin - part, end - part); break;
    case 'right': show(begin + part, end + part); break;
    case 'all': show(0, 1); break;
    }
  });
  charts.forEach(function (chart) {
    var from = null;
    chart.addEventListener('wheel', function (event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      var box = chart.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 0.8 : 1.25, begin + (end - begin) * (event.clientX - box.left) / box.width);
    }, {passive: false});
    chart.addEventListener('pointerdown', function (event) {
      if (event.pointerType === 'mouse') from = [event.clientX, begin, end];
    });
    window.addEventListener('pointermove', function (event) {
      if (!from) return;
      var by = (event.clientX - from[0]) / chart.getBoundingClientRect().width * (from[2] - from[1]);
      show(from[1] - by, from[2] - by);
    });
    window.addEventListener('pointerup', function () { from = null; });
  });
})();
)js";
