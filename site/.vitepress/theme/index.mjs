// The default theme with the system's fonts: nothing is loaded from another host.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
